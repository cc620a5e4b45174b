"""Processes: started in a session of their own, found again by another command, guarded, stopped.

Needs psutil, which the extras ``nats-local`` and ``neo4j-local`` bring.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import psutil

from schema.errors import MemTraceError

# The operating system counts a process's creation from boot on, and the clock may be corrected meanwhile.
_CLOCK_SLACK = 2.0
_KILL_SECONDS = 20.0
_WATCHDOG = Path(__file__).with_name("watchdog.py")


class ProcessError(MemTraceError):
    """A process can't be ended."""


class DetachedProcess:
    """A process that this one has started, in a session of its own: it outlives its starter and its terminal."""

    def __init__(
        self,
        command: Sequence[str],
        output: BinaryIO,
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        """Start it.

        Args:
            command: the program and its arguments, without secrets.
            output: what it prints goes there.
            environment: all of it; None for this process's.
            folder: where it works; None for this process's.
        """
        self._watchdog: subprocess.Popen[bytes] | None = None
        self._started = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @cached_property
    def process(self) -> psutil.Process:
        """The process, as the operating system tells of it."""
        return psutil.Process(self._started.pid)

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._started.poll()

    def guard(self) -> None:
        """Have it killed when this process ends, even by SIGKILL."""
        self._watchdog = subprocess.Popen(
            [sys.executable, "-P", str(_WATCHDOG), str(self.process.pid), repr(self.process.create_time())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def wait(self) -> None:
        """Wait until it is down, and let its guard go."""
        self._started.wait()
        if self._watchdog is not None:
            self._watchdog.kill()
            self._watchdog.communicate()
            self._watchdog = None

    def drop(self) -> None:
        """Kill it."""
        self._started.kill()
        self.wait()


def find(pid: int | None, created: float | None, argument: str | None = None) -> psutil.Process | None:
    """Find a process that was started earlier; None if it has ended, even if its pid now belongs to another process.

    Args:
        pid: its id, None where it was stopped.
        created: when it was made, in seconds since the epoch, as the operating system said then.
        argument: an argument that no other process has; None if the process can only be recognised by ``created``.
    """
    if pid is None:
        return None
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        is_same_age = created is not None and abs(process.create_time() - created) < _CLOCK_SLACK
        return process if is_same_age or argument in process.cmdline() else None
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def stop(process: psutil.Process, timeout: float, kill: bool = False) -> bool:
    """Stop a process, in order or at once; whether it was down within ``timeout`` seconds."""
    try:
        if kill:
            process.kill()
        else:
            process.terminate()
        process.wait(timeout)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True


def end(process: psutil.Process, timeout: float, kill: bool = False) -> None:
    """Stop a process, in order or at once; one that does not stop within ``timeout`` seconds is killed.

    Raises:
        ProcessError: it can't be ended.
    """
    if (kill or not stop(process, timeout)) and not stop(process, _KILL_SECONDS, kill=True):
        raise ProcessError(f"The process {process.pid} can't be ended.")
