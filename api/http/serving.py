"""uvicorn with bounds on connections, and with clear errors when the server can't start."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import structlog
import uvicorn

from api.http.connection import Patience, connections_of
from api.http.sockets import Gate, Listener, most_connections
from api.logs import error_fields

if TYPE_CHECKING:
    from fastapi import FastAPI

    from api.settings import Settings

_WEBSOCKET_BYTES = 64 * 1024
_TICKS = 10
"""uvicorn ticks ten times a second."""

_log = structlog.get_logger("memtrace.http")


class Server(uvicorn.Server):
    """A server for an application and a socket."""

    def __init__(self, app: FastAPI, settings: Settings, bound: socket.socket, started: Callable[[], None]) -> None:
        """Make one.

        Args:
            app: what to serve.
            settings: bounds, times and proxies.
            bound: a listening socket, which the server takes over.
            started: called when the server answers requests.
        """
        most = most_connections(settings.max_connections)
        self._gate = Gate(
            most, min(settings.max_connections_per_address or max(1, most // 2), most), settings.trusted_proxies
        )
        self._listener = Listener(bound, self._gate)
        self._tell_started = started
        self._parts = _Parts(app)
        patience = Patience(
            settings.header_seconds, settings.idle_seconds, settings.body_seconds, settings.write_seconds
        )
        super().__init__(
            uvicorn.Config(
                app,
                http=connections_of(self._gate, patience),
                lifespan="off",  # uvicorn's own lifespan would end the process with code 3 and a traceback
                log_config=None,
                access_log=False,
                server_header=False,
                ws_max_size=_WEBSOCKET_BYTES,
                ws_per_message_deflate=False,  # compressing an answer of megabytes would hold up the loop
                proxy_headers=bool(settings.trusted_proxies),
                forwarded_allow_ips=list(settings.trusted_proxies),
                # The gate closes idle connections; uvicorn's timer closes only those from which no byte has come.
                timeout_keep_alive=settings.idle_seconds,
                timeout_graceful_shutdown=settings.shutdown_seconds,
            )
        )

    async def run_here(self) -> None:
        """Serve until told to stop.

        Raises:
            MemTraceError: a part of the application can't begin, such as the store or the queue.
        """
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_report)
        await self.serve([self._listener])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        self.lifespan: Any = self._parts
        await super().startup(sockets)
        self._tell_started()

    async def on_tick(self, counter: int) -> bool:
        """Called by uvicorn ten times a second."""
        if counter % _TICKS == 0:
            self._gate.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)


class _Parts:
    """The lifespan of an application, in the form that uvicorn calls."""

    should_exit = False

    def __init__(self, app: FastAPI) -> None:
        self.state: dict[str, Any] = {}
        self._app = app
        self._open = AsyncExitStack()

    async def startup(self) -> None:
        """Open everything; errors are raised unchanged."""
        await self._open.enter_async_context(self._app.router.lifespan_context(self._app))

    async def shutdown(self) -> None:
        """Close everything; the server ends even after an error."""
        try:
            await self._open.aclose()
        except Exception as error:
            _log.error("not all could be closed in order", **error_fields(error))


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what went wrong in the loop, except for connections without a free file, which the gate counts."""
    if "out of system resource" not in context.get("message", ""):
        loop.default_exception_handler(context)
