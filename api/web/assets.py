"""Static files of the pages. Their address contains a hash of all files, so browsers may keep the files forever."""

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
    """A route in the form in which logs and metrics name it."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the path, and add this route to the scope."""
        match, found = super().matches(scope)
        return match, found if match is Match.NONE else {**found, "route": self}


class Assets:
    """Files of ``static``, the same for everybody and served without a key."""

    def __init__(self, types: Mapping[str, str], style_sheets: Mapping[str, str] | None = None) -> None:
        """Read the files.

        Args:
            types: the media type of each file, by its path in ``static``.
            style_sheets: texts of generated style sheets, by name.
        """
        sheets = style_sheets or {}
        self._types = {**types, **dict.fromkeys(sheets, "text/css")}
        self._files = {name: (STATIC / name).read_bytes() for name in types}
        self._files |= {name: text.encode() for name, text in sheets.items()}
        # The files refer to each other, so all have one address, which changes when any of the files changes.
        hashes = b"".join(sha256(content).digest() for content in self._files.values())
        self.version = sha256(hashes).hexdigest()[:16]

    def route(self, before: str) -> Route:
        """The route of the files below ``address``, which has no slash at its end."""
        return NamedRoute(f"{before}/{{version}}/{{name:path}}", self._file)

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if request.path_params["version"] != self.version or name not in self._files:
            raise HTTPException(404, "there is no such file: load the page again")
        content = self._files[name]
        headers = {"Cache-Control": _FOREVER, "Content-Length": str(len(content))}
        return StreamingResponse(_windows(content), headers=headers, media_type=self._types[name])


async def _windows(content: bytes) -> AsyncIterator[bytes]:
    """Sends one window at a time, so a slow reader costs no more memory than a window."""
    for start in range(0, len(content), _WINDOW_BYTES):
        yield content[start : start + _WINDOW_BYTES]
