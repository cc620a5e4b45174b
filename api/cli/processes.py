"""Processes that work together under one command: logs, exit codes, and a clean stop."""

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
    """A log file that is read while it grows."""

    def __init__(self, path: Path, from_end: bool = False) -> None:
        """Follow a file, which may not exist yet.

        Args:
            path: the file.
            from_end: whether to skip the present content.
        """
        self._path = path
        self._read = path.stat().st_size if from_end and path.exists() else 0

    def lines(self) -> list[str]:
        """The lines that were completed since the last call; a file that starts anew is read from its beginning."""
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
        name: the name in messages to the user.
        process: the process.
        log: the log of the process.
        stop: stops the process cleanly and returns when it has ended.
    """

    name: str
    process: psutil.Process
    log: Log
    stop: Callable[[], object]

    def ended(self) -> str | None:
        """The exit code or signal in words, as far as known; None while the process runs."""
        try:
            code = self.process.wait(0)
        except psutil.TimeoutExpired:
            return None
        if code is None:
            return "exit code unknown"
        return f"exit code {code}" if code >= 0 else f"signal {-code}"


def start_command(name: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> Part:
    """Start a command of ``memtrace`` in a session of its own. The command is killed when this process ends in any way.

    Args:
        name: the name in messages to the user.
        arguments: the command and its options, without secrets.
        environment: the whole environment.
        log: the file for all output, which is emptied first.
    """
    with log.open("wb") as output:
        child = DetachedProcess(command(arguments), output, environment=environment)
    child.guard()

    def stop() -> None:
        end(child.process, _STOP_SECONDS)
        child.wait()

    return Part(name, child.process, Log(log), stop)


def command(arguments: Sequence[str]) -> list[str]:
    """The command line of this interpreter; modules in the current folder can't interfere."""
    return [sys.executable, "-P", "-m", "memtrace_platform", *arguments]
