"""Processes that work together under one command: their logs as they grow, how they ended, and their stop."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from api.local_servers.process import DetachedProcess, end

_STOP_SECONDS = 60.0
_CHUNK_BYTES = 1 << 20


class Log:
    """A log file, read as it grows."""

    def __init__(self, path: Path, from_end: bool = False) -> None:
        """Take a file, which may not exist yet.

        Args:
            path: the file.
            from_end: whether what stands in it now is left out.
        """
        self._path = path
        self._read = path.stat().st_size if from_end and path.exists() else 0

    def lines(self) -> list[str]:
        """The lines that were finished since the last call; a file that was begun anew is read from its beginning."""
        found: list[str] = []
        try:
            with self._path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < self._read:
                    self._read = 0
                file.seek(self._read)
                while data := file.read(_CHUNK_BYTES):
                    end = data.rfind(b"\n") + 1
                    if not end and len(data) < _CHUNK_BYTES:
                        break
                    taken = data[: end or len(data)]
                    found += taken.decode("utf-8", "replace").splitlines()
                    self._read += len(taken)
                    file.seek(self._read)
        except FileNotFoundError:
            return []
        return found


@dataclass(frozen=True, slots=True)
class Part:
    """A process that was started.

    Attributes:
        name: its name in messages to the user.
        process: the process.
        log: what it says.
        stop: stops it in order, and returns when it is down.
    """

    name: str
    process: psutil.Process
    log: Log
    stop: Callable[[], object]

    def ended(self) -> str | None:
        """How it ended: its exit code or signal, as far as is known; None while it runs."""
        try:
            code = self.process.wait(0)
        except psutil.TimeoutExpired:
            return None
        if code is None:
            return "exit code unknown"
        return f"exit code {code}" if code >= 0 else f"signal {-code}"


def start_command(name: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> Part:
    """Start a command of ``memtrace`` in a session of its own; it is killed when this process ends, however it ends.

    Args:
        name: its name in messages to the user.
        arguments: the command and its options, without secrets.
        environment: all of its environment.
        log: the file for what it says, begun anew.
    """
    with log.open("wb") as output:
        child = DetachedProcess(command(arguments), output, environment=environment)
    child.guard()

    def stop() -> None:
        end(child.process, _STOP_SECONDS)
        child.wait()

    return Part(name, child.process, Log(log), stop)


def command(arguments: Sequence[str]) -> list[str]:
    """The command line of this interpreter, whatever lies in the current folder."""
    return [sys.executable, "-P", "-m", "memtrace_platform", *arguments]
