"""Detached processes: starting, finding again, guarding and stopping.

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
    """A process in its own session, which outlives starter and terminal."""

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
            output: the file for its printed text.
            environment: the whole environment; None for this process's.
            folder: the working folder; None for this process's.
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
        """The process in psutil."""
        return psutil.Process(self._started.pid)

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while the process runs."""
        return self._started.poll()

    def guard(self) -> None:
        """Have the process killed when this process ends, even by SIGKILL."""
        self._watchdog = subprocess.Popen(
            [sys.executable, "-P", str(_WATCHDOG), str(self.process.pid), repr(self.process.create_time())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def wait(self) -> None:
        """Wait until the process has ended, and end its guard."""
        self._started.wait()
        if self._watchdog is not None:
            self._watchdog.kill()
            self._watchdog.communicate()
            self._watchdog = None

    def drop(self) -> None:
        """Kill the process."""
        self._started.kill()
        self.wait()


def find(pid: int | None, created: float | None, argument: str | None = None) -> psutil.Process | None:
    """Find a process that was started earlier; None if it has ended, even if its pid now belongs to another process.

    Args:
        pid: the process id; None if the process was stopped.
        created: when the process was created, in seconds since the epoch, from the operating system.
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
    """Stop a process, in order or at once; returns whether it ended within ``timeout`` seconds."""
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
    """Stop a process, in order or at once. After ``timeout`` seconds it is killed.

    Raises:
        ProcessError: the process can't be ended.
    """
    if (kill or not stop(process, timeout)) and not stop(process, _KILL_SECONDS, kill=True):
        raise ProcessError(f"The process {process.pid} can't be ended.")
