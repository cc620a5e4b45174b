"""The page at ``/graphql`` that a browser is given: GraphiQL, and all that it loads.

The page and its files are the same for everybody and hold no data, so they are given without a key. What the page asks,
it asks of ``POST /graphql`` and of the websocket, with the key that is typed into it.
"""

from __future__ import annotations

from secrets import token_urlsafe
from string import Template

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

from api.web.assets import STATIC, Assets, NamedRoute

_PAGE = "explorer.html"
_TYPES = {
    "explorer.css": "text/css",
    "explorer.js": "text/javascript",
    "explorer.svg": "image/svg+xml",
    "vendor/graphiql.LICENSES.txt": "text/plain",
    "vendor/graphiql.css": "text/css",
    "vendor/graphiql.js": "text/javascript",
}
"""What the page loads, and what it is."""

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


def explorer_routes() -> list[BaseRoute]:
    """The routes of the page and of its files; to be asked before the route of GraphQL itself."""
    assets = Assets(_TYPES)
    source = Template((STATIC / _PAGE).read_text("utf-8"))

    async def page(_: Request) -> Response:
        nonce = token_urlsafe(16)
        # Relative, so that it holds behind a proxy that puts something before the path.
        text = source.substitute(assets=f"graphql/assets/{assets.version}", nonce=nonce)
        return HTMLResponse(text, headers={"Content-Security-Policy": _POLICY_TEXT.substitute(nonce=nonce)})

    return [_PageRoute("/graphql", page, methods=["GET"]), assets.route("/graphql/assets")]


class _PageRoute(NamedRoute):
    """Takes what a browser sends that opens the address, and nothing that could be meant as a query."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether it takes a request."""
        is_opened = scope["type"] == "http" and scope["method"] == "GET" and not scope["query_string"]
        if not is_opened or "text/html" not in Headers(scope=scope).get("accept", ""):
            return Match.NONE, {}
        return super().matches(scope)
