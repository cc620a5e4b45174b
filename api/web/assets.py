"""Files that pages load: read at the start, at an address that changes with them, so that browsers keep them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from hashlib import sha256
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Match, Route
from starlette.types import Scope

STATIC = Path(__file__).with_name("static")

_FOREVER = "public, max-age=31536000, immutable"
_WINDOW_BYTES = 64 << 10


class NamedRoute(Route):
    """A route that logs and metrics know."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether it takes a request."""
        match, found = super().matches(scope)
        return match, found if match is Match.NONE else {**found, "route": self}


class Assets:
    """Some files of ``static``, the same for everybody, given without a key."""

    def __init__(self, types: Mapping[str, str]) -> None:
        """Read them.

        Args:
            types: the media type of each, by its path in ``static``.
        """
        self._types = types
        self._files = {name: (STATIC / name).read_bytes() for name in types}
        # Files name each other, so all have one address: it changes when any of them does.
        hashes = b"".join(sha256(content).digest() for content in self._files.values())
        self.version = sha256(hashes).hexdigest()[:16]

    def route(self, before: str) -> Route:
        """The route of the files below an address, which has no slash at its end."""
        return NamedRoute(f"{before}/{{version}}/{{name:path}}", self._file)

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if request.path_params["version"] != self.version or name not in self._files:
            raise HTTPException(404, "there is no such file: load the page again")
        content = self._files[name]
        headers = {"Cache-Control": _FOREVER, "Content-Length": str(len(content))}
        return StreamingResponse(_windows(content), headers=headers, media_type=self._types[name])


async def _windows(content: bytes) -> AsyncIterator[bytes]:
    """A window at a time: who reads slowly costs no more memory than that."""
    for start in range(0, len(content), _WINDOW_BYTES):
        yield content[start : start + _WINDOW_BYTES]
