"""GraphiQL, the page at ``/graphql`` for browsers, with its scripts and styles.

The page and its files are the same for everybody and contain no data, so they are served without a key. The page sends
its queries to ``POST /graphql`` and to the websocket, with the key that the user types.
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
"""The files of the page, with their media types."""

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    # GraphiQL's menus and dialogs make a <style> to keep the page from scrolling; the tag carries the page's nonce.
    "style-src": "'self' 'nonce-$nonce'",
    # GraphiQL's style sheet contains icons as data. Pictures of other hosts that an answer names stay blocked.
    "img-src": "'self' data:",
    # 'self' includes the websocket: browsers match "ws:" of the same host.
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
_POLICY_TEXT = Template("; ".join(f"{name} {value}" for name, value in _POLICY.items()))


def explorer_routes() -> list[BaseRoute]:
    """The routes of the page and its files; the router must try these before the route of GraphQL itself."""
    assets = Assets(_TYPES)
    source = Template((STATIC / _PAGE).read_text("utf-8"))

    async def page(_: Request) -> Response:
        nonce = token_urlsafe(16)
        # A relative address, so that the page also works behind a proxy that adds a prefix to the path.
        text = source.substitute(assets=f"graphql/assets/{assets.version}", nonce=nonce)
        return HTMLResponse(text, headers={"Content-Security-Policy": _POLICY_TEXT.substitute(nonce=nonce)})

    return [_PageRoute("/graphql", page, methods=["GET"]), assets.route("/graphql/assets")]


class _PageRoute(NamedRoute):
    """Matches a browser that opens the address, but no request that may be a query."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        is_opened = scope["type"] == "http" and scope["method"] == "GET" and not scope["query_string"]
        if not is_opened or "text/html" not in Headers(scope=scope).get("accept", ""):
            return Match.NONE, {}
        return super().matches(scope)
