"""Middleware of every request: id, log line, security headers, and unexpected errors."""

from __future__ import annotations

import asyncio
import re
import time
from secrets import token_hex

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.auth.keys import PREFIX
from api.http.problems import ending_problem, unexpected_problem
from api.http.routing import route_of
from api.logs import error_fields

REQUEST_ID_HEADER = "X-Request-Id"
_SANE_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_NO_CONTENT = "default-src 'none'; frame-ancestors 'none'"

_log = structlog.get_logger("memtrace.http")


class RequestIds:
    """Gives each request an id, unless the request has one, and puts the id into the answer's header."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a websocket."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
        # An id that contains an API key would be kept in the audit log.
        is_sane = _SANE_ID.fullmatch(given) and PREFIX not in given
        request_id = given if is_sane else token_hex(16)
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] in {"http.response.start", "websocket.accept"}:
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = request_id
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await self._app(scope, receive, send_with_id)


class AccessLog:
    """Logs each request after its end, without query string, headers and body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a websocket."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status, sent = 0, 0

        async def watch(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "websocket.accept":
                status = 101
            sent += len(message.get("body") or b"")
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            client = scope.get("client")
            _log.info(
                "request" if scope["type"] == "http" else "websocket",
                method=scope.get("method"),
                path=scope["path"],
                route=route_of(scope),
                status=status,
                seconds=round(time.perf_counter() - began, 6),
                bytes=sent,
                client=client[0] if client else None,
                actor=scope["state"].get("actor"),
            )


class SecurityHeaders:
    """Adds headers against sniffing, framing, caching and referrers. Headers that a route sets stay."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _SECURITY.items():
                    headers.setdefault(name, value)
                if not headers.get("content-type", "").startswith("text/html"):
                    headers.setdefault("Content-Security-Policy", _NO_CONTENT)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class Unexpected:
    """Answers unexpected errors with a problem document without details. The log names the place of the error."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a websocket."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        begun = False

        async def watch(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] in {"http.response.start", "websocket.accept"}
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except ClientDisconnect:
            _log.info("the client went away", path=scope["path"], route=route_of(scope))
        except asyncio.CancelledError:
            # Requests are cancelled only when a server ends and has waited long enough.
            _log.warning("not answered before the server ended", path=scope["path"], route=route_of(scope))
            if scope["type"] == "http" and not begun:
                await ending_problem(scope)(scope, receive, send)
            elif scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1012})
        except Exception as error:
            # An answer that has begun can't become a problem document. Breaking off tells the client that the answer is
            # not whole. Not logged as an exception: where the logs are not set up, the line would show values.
            _log.error("unexpected error", path=scope["path"], route=route_of(scope), **error_fields(error))
            _log.debug("what the unexpected error says", error_text=str(error))
            if scope["type"] == "http" and not begun:
                await unexpected_problem(scope)(scope, receive, send)
            elif scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1011})
