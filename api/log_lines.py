"""Writes the lines of the log on a thread of its own, so that nobody who logs waits for whoever reads the log.

If standard output is a pipe that nobody reads, or a disk that hangs, only the thread waits. Lines then wait in memory
up to a bound; further lines are dropped and counted, and a later line says how many.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable

MOST_BYTES = 4 << 20
"""The most bytes of lines in memory: about 10,000 lines."""

_TOGETHER_BYTES = 4096
"""The most bytes of several lines in one write: a pipe takes so many (``PIPE_BUF``) without mixing in other writers."""
_TOGETHER_SECONDS = 0.01
"""How long the thread waits for more lines: it wakes up less often, and takes less of the event loop's time."""
_END_SECONDS = 1.0


class LineWriter:
    """Writes lines to a file descriptor.

    Attributes:
        dropped: the number of lines that were dropped.
    """

    def __init__(self, descriptor: int, tell: Callable[[int], None], most_bytes: int = MOST_BYTES) -> None:
        """Start the thread.

        Args:
            descriptor: where the lines go. Not a Python file: a thread that waits in one would hold its lock, and the
                process could not end.
            tell: called on the thread with the number of newly dropped lines, once there is room for lines again.
            most_bytes: the most bytes of waiting lines.
        """
        self.dropped = 0
        self._descriptor = descriptor
        self._tell = tell
        self._most_bytes = most_bytes
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._told = 0
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="log lines", daemon=True)
        self._thread.start()

    def put(self, line: str) -> None:
        """Add a line, without waiting; the line is dropped if too many wait."""
        data = f"{line}\n".encode("utf-8", "backslashreplace")
        with self._changed:
            if self._is_closed or self._bytes + len(data) > self._most_bytes:
                self.dropped += 1
                return
            self._lines.append(data)
            self._bytes += len(data)
            if len(self._lines) == 1:
                self._changed.notify()

    def close(self) -> None:
        """Write the waiting lines for up to a second, and take no more lines."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines or self._is_closed)
                if not self._lines:
                    return
            if not self._is_closed:
                time.sleep(_TOGETHER_SECONDS)
            while data := self._next():
                self._write(data)
                with self._changed:
                    self._bytes -= len(data)
                    untold = self.dropped - self._told if self._bytes < self._most_bytes // 2 else 0
                    self._told += untold
                if untold:
                    self._tell(untold)

    def _next(self) -> bytes:
        """The next lines; empty if none waits."""
        with self._changed:
            taken: list[bytes] = []
            size = 0
            while self._lines and (not taken or size + len(self._lines[0]) <= _TOGETHER_BYTES):
                taken.append(self._lines.popleft())
                size += len(taken[-1])
        return b"".join(taken)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:
                time.sleep(_TOGETHER_SECONDS)
            except OSError:  # the reader is gone, or the disk is full: there is nowhere to say so
                missing = bytes(rest).count(b"\n")
                with self._changed:
                    self.dropped += missing
                    self._told += missing
                return


class LineHandler(logging.Handler):
    """Gives formatted records to a ``LineWriter``."""

    def __init__(self, writer: LineWriter) -> None:
        super().__init__()
        self._writer = writer

    def emit(self, record: logging.LogRecord) -> None:
        """Format a record on the caller's thread, which knows the request, and hand the line on."""
        try:
            self._writer.put(self.format(record))
        except Exception:
            self.handleError(record)
