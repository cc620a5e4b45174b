"""The default exporter: a file on this machine, which only its user can read and which can be imported later."""

from __future__ import annotations

import os
import time
from pathlib import Path

from memtrace.exporters import segment as segments
from memtrace.exporters import waiting
from memtrace.exporters.background import BackgroundExporter
from memtrace.exporters.file import FileSink
from memtrace.exporters.segment import Segment
from memtrace.exporters.spool import size_of, state_directory
from memtrace.faults import report
from memtrace.folders import make_private_folder

MAX_FILE_BYTES = 256_000_000
MAX_FOLDER_BYTES = 1_000_000_000
"""Total size of all files; the oldest are removed to make room for a new one."""

SUFFIX = ".ndjson"

RUN = "MEMTRACE_RUN"
"""The environment variable with the name of a run of ``memtrace run``, which imports the files of that name."""


class LocalExporter(BackgroundExporter):
    """Writes the events of this process, and of processes forked from it, to a file of their own.

    Args:
        folder: the folder of the file; None means the user's state folder.

    Attributes:
        path: the file; it is created when the first event comes.

    Raises:
        RuntimeError: The user has no home folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or state_directory() / "recordings"
        begun = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        run = os.environ.get(RUN)
        self.path = folder / f"{begun}-{os.getpid()}-{os.urandom(2).hex()}{f'-{run}' if run else ''}{SUFFIX}"
        sink = _LocalSink(self.path)
        super().__init__(sink, new_waiting=sink.new_waiting)


class _LocalSink(FileSink):
    def __init__(self, path: Path) -> None:
        super().__init__(path, MAX_FILE_BYTES)
        self._has_room = False

    def new_waiting(self) -> Segment | None:
        """A file in the folder of recordings, whose name ends as that of the recording."""
        make_private_folder(self._path.parent)
        begun, rest = self._path.name.split("-", 1)
        name = f"{begun}-{os.urandom(4).hex()}-{rest}"
        return segments.new(self._path.with_name(name).with_suffix(waiting.SUFFIX))

    def deliver(self, lines: list[bytes]) -> bool:
        if not self._has_room:
            self._has_room = True
            try:
                waiting.adopt(self._path.parent, waiting.rename)
                _make_room(self._path.parent)
            except OSError as error:
                report("room in the folder of recordings", error)
        return super().deliver(lines)


def recordings_of(run: str) -> list[Path]:
    """The files of all processes of a run, oldest first, with what killed ones have left."""
    folder = state_directory() / "recordings"
    waiting.adopt(folder, waiting.rename)
    return sorted(folder.glob(f"*-{run}{SUFFIX}"))


def _make_room(folder: Path) -> None:
    """Remove the oldest files until there is room for one more file of the largest size."""
    make_private_folder(folder)
    sizes = {path: size_of(path) for path in sorted(folder.glob(f"*{SUFFIX}"))}
    total = sum(sizes.values()) + MAX_FILE_BYTES
    for path, size in sizes.items():
        if total <= MAX_FOLDER_BYTES:
            return
        path.unlink(missing_ok=True)
        total -= size
