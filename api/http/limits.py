"""How large a request's body may be, and how long its work may take."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import TooLargeError
from api.http.problems import problem_of

UPLOAD_PATH = "/v1/import"
EVENTS_PATH = "/v1/events"
TRACES_PATH = "/v1/traces"


class BodyLimit:
    """Refuses bodies that are too large: by the ``Content-Length``, and by counting while a body arrives."""

    def __init__(self, app: ASGIApp, body_bytes: int, of_paths: Mapping[str, int | None]) -> None:
        """Wrap an application.

        Args:
            app: the application to wrap.
            body_bytes: the most bytes of a request's body.
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
        limit = self._of_paths.get(scope["path"], self._body_bytes)
        if limit is None:
            await self._app(scope, receive, send)
            return
        error = TooLargeError("the body", limit)
        length = Headers(scope=scope).get("content-length", "")
        if length.isascii() and length.isdigit() and int(length) > limit:
            await problem_of(scope, error)(scope, receive, send)
            return
        came, too_large, begun = 0, False, False

        async def receive_counted() -> Message:
            nonlocal came, too_large
            message = await receive()
            came += len(message.get("body") or b"")
            if came > limit:
                too_large = True
                raise error
            return message

        async def send_unless_too_large(message: Message) -> None:
            nonlocal begun
            # The reader of the body may have turned the error into an answer; the client gets the problem below
            # instead.
            if not too_large or begun:
                begun = True
                await send(message)

        try:
            await self._app(scope, receive_counted, send_unless_too_large)
        except Exception:
            if not too_large or begun:
                raise
        if too_large and not begun:
            await problem_of(scope, error)(scope, receive, send)


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
