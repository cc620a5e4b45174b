"""Who sends a request: found out once for each request, by whichever part of the server asks first."""

from __future__ import annotations

from api.auth.access import Principal
from api.auth.verify import Verifier
from schema.errors import MemTraceError


class Asker:
    """The sender of one request.

    Attributes:
        authorization: the request's key or token as an Authorization header; None without one.
    """

    def __init__(self, verifier: Verifier, authorization: str | None, client: str | None) -> None:
        """Prepare; nothing is verified yet.

        Args:
            verifier: finds principals.
            authorization: see ``Asker``.
            client: the client's address.
        """
        self.authorization = authorization
        self._verifier = verifier
        self._client = client
        self._found: Principal | MemTraceError | None = None

    async def principal(self) -> Principal:
        """The principal. A request counts once for the rate limit, however often this is called.

        Raises:
            UnauthenticatedError, RateLimitedError, StoreError: see ``Verifier.verify``.
        """
        if self._found is None:
            try:
                self._found = await self._verifier.verify(self.authorization, self._client)
            except MemTraceError as error:
                self._found = error
        if isinstance(self._found, MemTraceError):
            raise self._found
        return self._found
