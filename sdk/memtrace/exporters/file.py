"""Events as lines of JSON in a file, which several processes may share."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

from memtrace.changes import lost
from memtrace.exporters import segment as segments
from memtrace.exporters import waiting
from memtrace.exporters.background import MAX_QUEUE_BYTES, BackgroundExporter
from memtrace.exporters.protocol import FlushResult
from memtrace.exporters.segment import Segment
from memtrace.faults import log, report

try:
    import fcntl
except ImportError:  # pragma: no cover (Windows has no such lock: one process a file)
    fcntl = None  # type: ignore[assignment]


class FileExporter(BackgroundExporter):
    """Appends events to a file as lines of JSON.

    Args:
        path: the file; it is created, for this user only, when the first event comes.
        max_queue_bytes: approximate limit of what may wait in memory.
        max_bytes: largest size of the file; events beyond it are dropped. None means no limit.
    """

    def __init__(
        self, path: Path | str, max_queue_bytes: int = MAX_QUEUE_BYTES, *, max_bytes: int | None = None
    ) -> None:
        sink = FileSink(Path(path), max_bytes)
        super().__init__(sink, max_queue_bytes, sink.new_waiting)


class FileSink:
    """Appends to a file."""

    def __init__(self, path: Path, max_bytes: int | None = None) -> None:
        self.counts = FlushResult()
        self._path = path
        self._max_bytes = max_bytes
        self._has_adopted = False

    def new_waiting(self) -> Segment | None:
        """A file beside the file, for events that wait.

        Raises:
            OSError: The file can't be created.
        """
        name = f"{self._path.name}.{os.getpid()}-{os.urandom(4).hex()}{waiting.SUFFIX}"
        return segments.new(self._path.with_name(name))

    def deliver(self, lines: list[bytes]) -> bool:
        """Append the lines, or count them as dropped: a failing file is no reason to wait."""
        try:
            if not self._has_adopted:
                self._has_adopted = True
                waiting.adopt(self._path.parent, self._take, f"{self._path.name}.")
            self._append(b"".join(lines))
        except OSError as error:
            lost()
            report("writing to the file of events", error)
            self.counts = replace(self.counts, dropped=self.counts.dropped + len(lines))
        else:
            self.counts = replace(self.counts, sent=self.counts.sent + len(lines))
        return True

    def _append(self, data: bytes) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            end = os.lseek(descriptor, 0, os.SEEK_END)
            if self._max_bytes is not None and end + len(data) > self._max_bytes:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
            try:
                written = 0
                while written < len(data):
                    written += os.write(descriptor, data[written:])
            except OSError:
                os.ftruncate(descriptor, end)  # remove the part of the batch that a full disk took
                raise
        finally:
            os.close(descriptor)

    def _take(self, left: Segment) -> None:
        lines, damaged = left.lines()
        if damaged:
            log.warning("%s: %d lines are no events: a crash cut them short", left.path, len(damaged))
        self._append(b"".join(lines))
        left.remove()

    def tick(self) -> None:
        """Do nothing: no work is ever due."""

    def wait_seconds(self) -> float | None:
        """None: no work is ever due."""
        return None

    def hurry(self) -> None:
        """Do nothing: no line waits."""

    def abandon(self, lines: list[bytes]) -> None:
        """Append the lines that are left."""
        if lines:
            self.deliver(lines)

    def forked(self) -> None:
        """Count from 0: the parent counts its own events. Look again for what killed processes have left."""
        self.counts = FlushResult()
        self._has_adopted = False
