"""The page at ``/graphql`` that browsers get: GraphiQL, and all that it loads.

The page and its files are the same for everybody and hold no data, so they are given without a key. What the page asks,
it asks of ``POST /graphql`` and of the websocket, with the key that is typed into it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from string import Template

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

_FOLDER = Path(__file__).with_name("static")
_PAGE = "explorer.html"
_TYPES = {
    "explorer.css": "text/css",
    "explorer.js": "text/javascript",
    "explorer.svg": "image/svg+xml",
    "vendor/graphiql.LICENSES.txt": "text/plain",
    "vendor/graphiql.css": "text/css",
    "vendor/graphiql.js": "text/javascript",
}
"""The files that the page loads, with their media types."""

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    # GraphiQL's menus and dialogs make a <style> to keep the page from scrolling; it carries the page's nonce.
    "style-src": "'self' 'nonce-$nonce'",
    # Signs in GraphiQL's style sheet. GraphiQL would also fetch a picture whose address stands in an answer.
    "img-src": "'self' data:",
    # Also the websocket: browsers take "ws:" of the same host for 'self'.
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
_POLICY_TEXT = Template("; ".join(f"{name} {value}" for name, value in _POLICY.items()))
_FOREVER = "public, max-age=31536000, immutable"
_WINDOW_BYTES = 64 << 10


def explorer_routes() -> list[BaseRoute]:
    """The routes of the page and of its files; to be asked before the route of GraphQL itself."""
    files = {name: (_FOLDER / name).read_bytes() for name in _TYPES}
    # Files name each other, so all have one address: it changes when any of them does, and each may be kept for ever.
    version = sha256(b"".join(sha256(content).digest() for content in files.values())).hexdigest()[:16]
    source = Template((_FOLDER / _PAGE).read_text("utf-8"))

    async def page(_: Request) -> Response:
        nonce = token_urlsafe(16)
        # Relative, so that it holds behind a proxy that puts something before the path.
        text = source.substitute(assets=f"graphql/assets/{version}", nonce=nonce)
        return HTMLResponse(text, headers={"Content-Security-Policy": _POLICY_TEXT.substitute(nonce=nonce)})

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if request.path_params["version"] != version or name not in files:
            raise HTTPException(404, "the explorer has no such file: load its page again")
        content = files[name]
        headers = {"Cache-Control": _FOREVER, "Content-Length": str(len(content))}
        return StreamingResponse(_windows(content), headers=headers, media_type=_TYPES[name])

    return [_PageRoute("/graphql", page, methods=["GET"]), _NamedRoute("/graphql/assets/{version}/{name:path}", asset)]


class _NamedRoute(Route):
    """A route that logs and metrics know."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether it takes a request."""
        match, found = super().matches(scope)
        return match, found if match is Match.NONE else {**found, "route": self}


class _PageRoute(_NamedRoute):
    """Takes what a browser sends that opens the address, and nothing that could be meant as a query."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether it takes a request."""
        is_opened = scope["type"] == "http" and scope["method"] == "GET" and not scope["query_string"]
        if not is_opened or "text/html" not in Headers(scope=scope).get("accept", ""):
            return Match.NONE, {}
        return super().matches(scope)


async def _windows(content: bytes) -> AsyncIterator[bytes]:
    """A window at a time: a client that reads slowly costs no more memory than that."""
    for start in range(0, len(content), _WINDOW_BYTES):
        yield content[start : start + _WINDOW_BYTES]
