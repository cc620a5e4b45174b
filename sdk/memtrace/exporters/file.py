"""Events as lines of JSON in a file, which several processes may share."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from memtrace.changes import lost
from memtrace.exporters.background import MAX_QUEUE_BYTES, BackgroundExporter
from memtrace.exporters.protocol import FlushResult
from memtrace.faults import report

try:
    import fcntl
except ImportError:  # pragma: no cover (Windows has no such lock: one process a file)
    fcntl = None  # type: ignore[assignment]


class FileExporter(BackgroundExporter):
    """Appends events to a file, whole lines at a time.

    Args:
        path: the file; made, for this user only, when the first event comes.
        max_queue_bytes: about how much may wait in memory.
    """

    def __init__(self, path: Path | str, max_queue_bytes: int = MAX_QUEUE_BYTES) -> None:
        super().__init__(_FileSink(Path(path)), max_queue_bytes)


class _FileSink:
    def __init__(self, path: Path) -> None:
        self.counts = FlushResult()
        self._path = path

    def deliver(self, lines: list[bytes]) -> bool:
        try:
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
            try:
                written = 0
                while written < len(data):
                    written += os.write(descriptor, data[written:])
            except OSError:
                os.ftruncate(descriptor, end)  # a full disk leaves no half of a batch
                raise
        finally:
            os.close(descriptor)

    def tick(self) -> None:
        """Nothing is ever due."""

    def wait_seconds(self) -> float | None:
        return None

    def hurry(self) -> None:
        """A file is never late."""

    def abandon(self, lines: list[bytes]) -> None:
        if lines:
            self.deliver(lines)

    def forked(self) -> None:
        self.counts = FlushResult()
