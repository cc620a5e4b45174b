"""From the Authorization header to a principal."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from api.auth.access import Principal
from api.auth.keys import PREFIX, PresentedKey, form_problem, is_genuine, parse_key
from api.auth.known import KnownKeys, LastUses
from api.auth.rate import RateLimit
from api.errors import UnauthenticatedError
from schema.control import ApiKey
from store.contract.records import Registry

if TYPE_CHECKING:
    from api.auth.oidc import TokenVerifier

GUESSES = "60/minute"
"""How many unknown keys an address may try.

After that, keys that this process has never seen are not looked up for a while. Known keys still work: honest clients
may share the address behind a proxy.
"""

_LONGEST = 16_384


class Verifier:
    """Finds principals by keys and tokens.

    A look-up is cached for ``REVOCATION_SECONDS``: a revoked key may still be accepted for so long.
    """

    def __init__(self, registry: Registry, rate_limit: str, tokens: TokenVerifier | None = None) -> None:
        """Prepare to verify; nothing is looked up yet.

        Args:
            registry: knows the keys.
            rate_limit: limit of a principal's requests, such as ``600/minute``.
            tokens: verifies bearer tokens of an OIDC issuer; None accepts no tokens.
        """
        self._keys = KnownKeys(registry)
        self._uses = LastUses(registry)
        self._tokens = tokens
        self._requests = RateLimit(rate_limit)
        self._guesses = RateLimit(GUESSES)

    async def verify(self, authorization: str | None, client: str | None = None) -> Principal:
        """The principal of a request.

        Args:
            authorization: the header.
            client: the client's address; None counts no guesses.

        Raises:
            UnauthenticatedError: the request has no valid key or token.
            RateLimitedError: the principal asks too often, or the address guesses too often.
            StoreError: the store or the issuer can't be asked.
        """
        if authorization is None:
            raise UnauthenticatedError("there is no Authorization header")
        principal = await self._identify(authorization, client)
        await self._requests.hit(principal.actor)
        return principal

    async def recheck(self, authorization: str | None) -> Principal:
        """The principal of a running subscription. The check is not counted as a request.

        Raises:
            UnauthenticatedError: the key or token is no longer valid.
            StoreError: the store or the issuer can't be asked.
        """
        if authorization is None:
            raise UnauthenticatedError("there is no Authorization header")
        return await self._identify(authorization, None)

    def start(self) -> None:
        """Begin to store when keys were last used."""
        self._uses.start()

    async def stop(self) -> None:
        """Store what is not stored yet, and close connections."""
        await self._uses.stop()
        if self._tokens is not None:
            await self._tokens.close()

    async def _identify(self, authorization: str, client: str | None) -> Principal:
        scheme, _, credentials = authorization.partition(" ")
        credentials = credentials.strip()
        if scheme.lower() != "bearer" or not credentials or len(authorization) > _LONGEST:
            raise UnauthenticatedError("the Authorization header is not Bearer and a key or token")
        presented = parse_key(credentials)
        if presented is not None:
            return await self._by_key(presented, client)
        if self._tokens is None or credentials.startswith(PREFIX):
            told = f"a valid API key or token is needed: {form_problem(credentials)}"
            raise UnauthenticatedError("this has not the form of a key", told)
        return await self._tokens.verify(credentials)

    async def _by_key(self, presented: PresentedKey, client: str | None) -> Principal:
        kept = await self._look_up(presented.id, client)
        now = datetime.now(UTC)
        if not is_genuine(presented, kept) or kept is None:
            raise UnauthenticatedError(f"no key {presented.id} has this secret", "this API key is unknown")
        if kept.revoked_at is not None:
            raise UnauthenticatedError(f"key {kept.id} is revoked", "this API key is revoked")
        principal = Principal(f"key:{kept.id}", {kept.project_id: kept.role}, kept.expires_at, kept.person or kept.name)
        if principal.is_expired(now):
            raise UnauthenticatedError(f"key {kept.id} has expired", "this API key has expired")
        self._uses.note(kept.id, now)
        return principal

    async def _look_up(self, key_id: str, client: str | None) -> ApiKey | None:
        if client is None or self._keys.was_found(key_id):
            return await self._keys.get(key_id)
        await self._guesses.check(client)
        kept = await self._keys.get(key_id)
        if kept is None:
            await self._guesses.hit(client)
        return kept
