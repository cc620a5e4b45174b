"""Who may send a body, how large the body may be, and how long the work of a request may take."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.auth.asker import Asker
from api.auth.browsers import authorization_in_cookie, authorization_of
from api.errors import TooLargeError
from api.http.dependencies import client_of, platform_of
from api.http.problems import problem_of
from schema.errors import MemTraceError

UPLOAD_PATH = "/v1/import"
EVENTS_PATH = "/v1/events"
TRACES_PATH = "/v1/traces"
GRAPHQL_PATH = "/graphql"
PAGES_PATH = "/ui"

SMALL_BYTES = 64 << 10
"""The most bytes of a body, except where events, files, documents or forms are sent."""

OPEN_PATHS = frozenset({"/ui/sign-in", "/ui/open", "/ui/invitation"})
"""Paths whose bodies are read without a key, because the body holds the key. All other bodies need a key first."""

_MOST_DIGITS = 18
"""Digits of a size that are read; Python reads no number of more than 4,300 digits."""


class Bodies:
    """Hands a request's body on only if its sender has a key, and while the body is small enough.

    Every handler reads its body through here, so the order holds for every route: who asks, then the size, then the
    content. ``api.http.dependencies.asker_of`` gives handlers the sender, who is thus verified once.
    """

    def __init__(self, app: ASGIApp, body_bytes: int, of_paths: Mapping[str, int | None]) -> None:
        """Wrap an application.

        Args:
            app: the application to wrap.
            body_bytes: the most bytes of GraphQL's bodies and of forms; other bodies have at most ``SMALL_BYTES``, too.
            of_paths: other limits by path; None is no limit.
        """
        self._app = app
        self._body_bytes = body_bytes
        self._of_paths = of_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        limit = self._limit(scope["path"])
        declared = _declared(headers)
        is_open = scope["path"] in OPEN_PATHS
        scope["state"]["asker"] = asker = _asker(scope)
        came, begun = 0, False
        refusal: MemTraceError | None = None

        async def check(size: int) -> None:
            nonlocal refusal
            try:
                if not is_open:
                    await asker.principal()
                if limit is not None and size > limit:
                    raise TooLargeError("the body", limit)
            except MemTraceError as error:
                refusal = error
                raise

        async def receive_checked() -> Message:
            nonlocal came
            if declared is not None:
                await check(declared)
            message = await receive()
            if message.get("body"):
                came += len(message["body"])
                await check(came)
            return message

        async def send_unless_refused(message: Message) -> None:
            nonlocal begun
            # The reader of the body may have turned the error into an answer; the client gets the problem below
            # instead.
            if refusal is None or begun:
                begun = True
                await send(message)

        try:
            await self._app(scope, receive_checked, send_unless_refused)
        except Exception:
            if refusal is None or begun:
                raise
        if refusal is not None and not begun:
            await problem_of(scope, refusal)(scope, receive, send)

    def _limit(self, path: str) -> int | None:
        if path in self._of_paths:
            return self._of_paths[path]
        is_large = path == GRAPHQL_PATH or path.startswith(f"{PAGES_PATH}/projects/")
        return self._body_bytes if is_large else min(self._body_bytes, SMALL_BYTES)


def _asker(scope: Scope) -> Asker:
    """The sender, by the cookie for pages, by the header or the cookie for GraphQL, else by the header."""
    connection = HTTPConnection(scope)
    path = scope["path"]
    if path == PAGES_PATH or path.startswith(f"{PAGES_PATH}/"):
        authorization = authorization_in_cookie(connection)
    elif path == GRAPHQL_PATH:
        authorization = authorization_of(connection)
    else:
        authorization = connection.headers.get("authorization")
    return Asker(platform_of(connection).verifier, authorization, client_of(connection))


def _declared(headers: Headers) -> int | None:
    """The size of the body by the head, 0 if the head does not say how large it is; None if there is no body."""
    length = headers.get("content-length", "").lstrip("0")
    if length.isascii() and length.isdigit():
        return int(length[:_MOST_DIGITS])
    return 0 if "transfer-encoding" in headers else None


class Deadline:
    """Ends requests whose answer does not begin in time. An answer that has begun has no deadline.

    Uploads have no deadline, because their duration depends on the sender.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        """Wrap an application.

        Args:
            app: the application to wrap.
            seconds: from the request's head to the answer's head.
        """
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http" or scope["path"] == UPLOAD_PATH:
            await self._app(scope, receive, send)
            return
        begun = False

        async def send_in_time(message: Message) -> None:
            nonlocal begun
            if not begun:
                begun = True
                timeout.reschedule(None)
            await send(message)

        try:
            async with asyncio.timeout(self._seconds) as timeout:
                await self._app(scope, receive, send_in_time)
        except TimeoutError as error:
            if begun or not timeout.expired():
                raise
            await problem_of(scope, error)(scope, receive, send)
