"""A server in a thread of the test's own process, for tests that add routes or look inside."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from api.server import create_app
from api.settings import Settings
from api.settings.loading import load_settings

START_SECONDS = 60


def settings_for(folder: Path, **values: Any) -> Settings:
    """Settings of a server on a SQLite file of its own, without a runner of jobs."""
    return load_settings(None, {"store": f"sqlite:///{folder / 'inside.db'}", "job_concurrency": 0, **values})


class _Server(uvicorn.Server):
    """Tells another thread when it listens, or has ended."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__(uvicorn.Config(app, lifespan="on", log_config=None, access_log=False, ws_max_size=65_536))
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """The address of a server of this application."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = _Server(app)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    assert server.ready.wait(START_SECONDS)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@contextmanager
def inside(folder: Path, **values: Any) -> Iterator[tuple[FastAPI, str]]:
    """An application with these settings, to which routes may still be added, and its address."""
    app = create_app(settings_for(folder, **values))
    with serving(app) as url:
        yield app, url
