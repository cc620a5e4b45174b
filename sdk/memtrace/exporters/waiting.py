"""Files of events that wait in memory (``memtrace.undecided``), so that a process that is killed does not lose them.

Each trace that waits has a file of its own, which its process locks and removes when the trace waits no longer. A file
without a lock is what a killed process has left: ``adopt`` makes it a file of events like all others.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from memtrace.changes import Images
from memtrace.exporters import segment as segments
from memtrace.exporters.prepare import Preparation
from memtrace.exporters.segment import Segment
from memtrace.faults import report
from memtrace.raw_events import RawEvent

SUFFIX = ".waiting"


class WaitingFiles:
    """The files of one process. Errors are reported, and never raised: the events still wait in memory.

    Args:
        new: creates and locks a new file; None if that is impossible.
    """

    def __init__(self, new: Callable[[], Segment | None]) -> None:
        self._new = new
        self._preparation = Preparation()
        self._lock = threading.Lock()
        self._files: dict[str, tuple[Segment, Preparation] | None] = {}
        """By trace; None if writing has failed."""
        self._released: deque[str] = deque()
        """Traces whose files are to be removed."""

    def prepare_with(self, preparation: Preparation) -> None:
        """Use this to mask, cut and complete events."""
        self._preparation = preparation

    def keep(self, trace_id: str, events: list[RawEvent]) -> None:
        """Add events of a trace that waits to its file."""
        if not segments.HAS_LOCKS:  # nobody could tell whether the process lives
            return
        with self._lock:
            try:
                if trace_id not in self._files:
                    made = self._new()
                    # Differences between versions are told anew: the reader of this file has no other.
                    preparation = replace(self._preparation, _images=Images())
                    self._files[trace_id] = None if made is None else (made, preparation)
                file = self._files[trace_id]
                if file is not None:
                    file[0].write(b"".join(map(file[1].line, events)))
            except Exception as error:
                report("keeping events that wait on disk", error)
                self._remove(trace_id)
                self._files[trace_id] = None
        self._remove_released()

    def release(self, trace_id: str) -> None:
        """Remove the file of a trace that waits no longer. Never waits for a slow disk that ``keep`` writes to."""
        self._released.append(trace_id)
        self._remove_released()

    def _remove_released(self) -> None:
        # Who has the lock does this afterwards.
        while self._released and self._lock.acquire(blocking=False):
            try:
                while self._released:
                    self._remove(self._released.popleft())
            finally:
                self._lock.release()

    def forget(self) -> None:
        """Leave the files to the parent process, after a fork."""
        files, self._files, self._lock = self._files, {}, threading.Lock()
        self._released.clear()
        for file in files.values():
            if file is not None:
                file[0].release()

    def _remove(self, trace_id: str) -> None:
        file = self._files.pop(trace_id, None)
        if file is not None:
            try:
                file[0].remove()
            except OSError as error:
                report("removing events that waited", error)


def adopt(folder: Path, take: Callable[[Segment], None], start: str = "") -> None:
    """Take over what killed processes have left in a folder.

    Args:
        folder: the folder; it need not exist.
        take: moves the events of a file to where the others are.
        start: only files whose names begin so.
    """
    if not segments.HAS_LOCKS:
        return
    try:
        left = sorted(path for path in folder.glob(f"*{SUFFIX}") if path.name.startswith(start))
    except OSError as error:
        report("listing of events that waited", error)
        return
    for path in left:
        found = segments.existing(path)
        if found is None:
            continue
        try:
            take(found)
        except OSError as error:
            report("taking over events that waited", error)
        finally:
            found.release()


def rename(left: Segment) -> None:
    """Make a file that a killed process has left a file of events.

    Raises:
        OSError: The file can't be renamed.
    """
    left.path.rename(left.path.with_suffix(segments.SUFFIX))
