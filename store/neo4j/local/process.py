"""Telling whether a home's server runs, and ending it."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import psutil

from store.neo4j.local.errors import LocalNeo4jError
from store.neo4j.local.home import Home, State

# The operating system counts a process's creation from boot on, and the clock may be corrected meanwhile.
_CLOCK_SLACK = 2.0
_WATCHDOG = Path(__file__).with_name("watchdog.py")


def find_server(home: Home, state: State | None) -> psutil.Process | None:
    """The running server process of a home; None where it was stopped or crashed (its pid may be another's)."""
    if state is None or state.pid is None:
        return None
    try:
        process = psutil.Process(state.pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        same_age = state.created is not None and abs(process.create_time() - state.created) < _CLOCK_SLACK
        if same_age or f"@{home.arguments_file}" in process.cmdline():
            return process
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    return None


def end(process: psutil.Process, kill: bool, timeout: float) -> None:
    """Ends a server: with SIGTERM it closes its store cleanly (about 10 s), with SIGKILL it is dropped.

    Raises:
        LocalNeo4jError: It still runs after `timeout` seconds.
    """
    try:
        if kill:
            process.kill()
        else:
            process.terminate()
        process.wait(timeout)
    except psutil.NoSuchProcess:
        return
    except psutil.TimeoutExpired:
        raise LocalNeo4jError(
            f"The server (process {process.pid}) is still stopping after {timeout:.0f} s; "
            "wait, or end it at once with stop --kill"
        ) from None


def guard(pid: int, created: float) -> subprocess.Popen[bytes]:
    """Starts a watchdog that kills the server when this process ends, even by SIGKILL."""
    return subprocess.Popen(
        [sys.executable, "-P", str(_WATCHDOG), str(pid), repr(created)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def release(watchdog: subprocess.Popen[bytes]) -> None:
    """Ends a watchdog whose server is down."""
    watchdog.kill()
    watchdog.communicate()


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
