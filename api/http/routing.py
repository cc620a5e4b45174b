"""Which route took a request: names for logs, metrics and traces that don't grow with what is asked for."""

from __future__ import annotations

from starlette.types import Scope

UNMATCHED = "unmatched"
_HEALTH = frozenset({"/healthz", "/readyz"})
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def route_of(scope: Scope) -> str:
    """The template of the route, such as ``/v1/export/{trace}``; known once the request was routed."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) and path else UNMATCHED


def door_of(scope: Scope) -> str:
    """The door of the route: graphql, web, http, health, metrics, or none."""
    route = route_of(scope)
    if route == UNMATCHED:
        return "none"
    if route.startswith("/graphql"):
        return "graphql"
    if route in {"/", "/ui"} or route.startswith("/ui/"):
        return "web"
    if route in _HEALTH:
        return "health"
    return "metrics" if route == "/metrics" else "http"


def method_of(scope: Scope) -> str:
    """The method, where it is one of the known ones; a client may send any word."""
    if scope["type"] == "websocket":
        return "WEBSOCKET"
    method = scope["method"]
    return method if method in _METHODS else "OTHER"
