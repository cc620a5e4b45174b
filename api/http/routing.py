"""Names of routes for logs, metrics and traces: a fixed number of names, whatever clients request."""

from __future__ import annotations

from starlette.types import Scope

UNMATCHED = "unmatched"
HEALTH = frozenset({"/healthz", "/readyz", "/health", "/healthcheck", "/livez", "/ready"})
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def route_of(scope: Scope) -> str:
    """The template of the route, such as ``/v1/export/{trace}``; known once the request was routed."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) and path else UNMATCHED


def door_of(scope: Scope) -> str:
    """The interface of the route: graphql, web, http, health, metrics, or none."""
    route = route_of(scope)
    if route == UNMATCHED:
        return "none"
    if route.startswith("/graphql"):
        return "graphql"
    if route in {"/", "/ui"} or route.startswith("/ui/"):
        return "web"
    if route in HEALTH:
        return "health"
    return "metrics" if route == "/metrics" else "http"


def method_of(scope: Scope) -> str:
    """The method if it is a known method; a client may send any word."""
    if scope["type"] == "websocket":
        return "WEBSOCKET"
    method = scope["method"]
    return method if method in _METHODS else "OTHER"
