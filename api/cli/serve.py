"""`memtrace serve`: runs the server."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note

if TYPE_CHECKING:
    import socket

    from fastapi import FastAPI

    from api.settings import Settings
    from api.web.pages.opening import Opening
    from store.contract.protocol import Database

commands = typer.Typer()


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="A file of settings, in TOML. (env: MEMTRACE_CONFIG)", show_default=False
    ),
]


@command(commands)
async def serve(
    place: Target,
    host: Annotated[
        str | None,
        typer.Option("--host", help="The address to listen on. (env: MEMTRACE_HOST; default: 127.0.0.1)"),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="The port to listen on; 0 takes a free one. (env: MEMTRACE_PORT; default: 8080)",
        ),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Serve GraphQL, HTTP and web pages until told to stop; requests under way are then finished.

    docs/server.md lists the settings.

    A SQLite file that does not exist is created. Logs go to standard output.
    """
    await run_server({"store": place.store, "values": place.values, "host": host, "port": port}, config, _nobody)


@asynccontextmanager
async def _nobody(_: Database) -> AsyncIterator[None]:
    """No browser is signed in automatically."""
    yield None


async def run_server(
    options: dict[str, Any],
    config: Path | None,
    opening: Callable[[Database], AbstractAsyncContextManager[Opening | None]],
) -> None:
    """Serve until told to stop.

    Args:
        options: settings that override all others; None means unset.
        config: a file of settings.
        opening: signs one browser in, and opens its address, while the server runs.
    """
    from schema.errors import InputError
    from store.runtime.garbage_collector import collect_rarely, collector_paused

    try:
        # Nothing made here is garbage, and searching for garbage would take a fifth of the start.
        with collector_paused(stays=True):
            from api.settings.loading import load_settings, open_store

            settings = load_settings(config, options)
            listening = _listen(settings.host, settings.port)
        async with await open_store(settings) as database, opening(database) as way_in:
            with collector_paused(stays=True):
                from api.logs import set_up_logs
                from api.processes.light_imports import leave_out, models_made_when_used

                # OpenAPI documents need FastAPI's own models: a thread completes them when a document is requested.
                with models_made_when_used():
                    import fastapi  # noqa: F401  (see above)
                # FastAPI loads this old Pydantic, if it is there, to find out that no model of ours is one of its.
                leave_out("pydantic.v1")
                from api.server import create_app

                app = create_app(settings, database, way_in)
            set_up_logs(settings.log_level, settings.log_format)
            collect_rarely()
            # The event loop answers all requests: other threads hand over to it after a fifth of the usual time. See
            # LoopLag.
            sys.setswitchinterval(0.001)
            await _run(app, settings, listening, way_in)
    except InputError as error:
        raise UsageError(str(error)) from error


def _listen(host: str, port: int) -> socket.socket:
    """A socket that is bound before anything else starts.

    Raises:
        InputError: the server can't listen on this address.
    """
    import socket

    from schema.errors import InputError

    shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InputError("--host", "", f"{host!r} is not an address of this machine: {error.strerror}") from error
    try:
        # A port whose last server has just stopped is free.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        # Listening finds out whether another server has the port; with the option above, binding does not.
        bound.listen(2048)
    except OSError as error:
        bound.close()
        raise InputError("--port", "", f"{shown} can't be listened on: {error.strerror}") from error
    return bound


async def _run(app: FastAPI, settings: Settings, listening: socket.socket, way_in: Opening | None) -> None:
    import signal

    from api.http.serving import Server

    url = _url(listening)

    def tell() -> None:
        note(f"MemTrace listens on {url}")
        if way_in is not None:
            way_in.tell(url)

    server = Server(app, settings, listening, tell)
    # After a clean stop the server raises the signal again, which is no error.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _signal, _frame: None)
    await server.run_here()


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
