"""Keeps events on disk while the platform is away: files of lines, which are sent oldest first, with a limit of size.

Each process appends to a segment of its own and holds the segment's lock. The lock ends with the process; the next
process that replays the spool takes the segment over. A line is written whole or not at all; after a failure, a new
segment begins. If a kill or a disk damages a line, the line is moved to ``damaged.txt``. Events that the platform
refused are kept in ``rejected.jsonl`` with the reason. Neither file is sent again.
"""

from __future__ import annotations

import json
import os
import time
from hashlib import blake2b
from pathlib import Path

from memtrace.exporters import segment as segments
from memtrace.exporters import waiting
from memtrace.exporters.purpose import Purpose
from memtrace.exporters.segment import SUFFIX, Segment
from memtrace.faults import log, report
from memtrace.folders import make_private_folder

SEGMENT_BYTES = 1_000_000
MAX_BYTES = 256_000_000
REJECTED = "rejected.jsonl"
DAMAGED = "damaged.txt"
MAX_ASIDE_BYTES = 16_000_000
"""Largest size of each file of lines that are never sent."""
_TRIES = 10


class Spool:
    """A folder of segments for one platform and project. Errors are reported, and never raised.

    Args:
        directory: the folder; created with the first event, for this user only.
        max_bytes: beyond this size, the oldest segments are dropped.
        purpose: the destination of the events, written to the folder for people.
    """

    def __init__(self, directory: Path, max_bytes: int = MAX_BYTES, purpose: Purpose | None = None) -> None:
        self.directory = directory
        self._max_bytes = max_bytes
        self._purpose = purpose
        self._current: Segment | None = None
        self._has_adopted = False
        self._done_with: set[Path] = set()
        """Segments that this process skips: they can't be read, or are sent and can't be removed."""

    def append(self, lines: list[bytes]) -> int:
        """Keep lines.

        Returns:
            Number of dropped lines, old or new: there was no room, or the folder can't be written to.
        """
        data = b"".join(lines)
        if len(data) > self._max_bytes:
            return len(lines)
        dropped = self._make_room(len(data))
        try:
            self._segment_for(len(data)).write(data)
        except OSError as error:
            report("spool", error)
            # The segment may end with a part of a line, so nothing more is appended.
            self.rotate()
            return dropped + len(lines)
        return dropped

    def rotate(self) -> None:
        """End the current segment, which may then be replayed."""
        current, self._current = self._current, None
        if current is None:
            return
        if current.size:
            current.release()
        else:
            self.finish(current)

    def oldest(self) -> Segment | None:
        """The oldest segment that no other process uses."""
        if not self._has_adopted:
            self._has_adopted = True
            waiting.adopt(self.directory, waiting.rename)
        for path in self._paths():
            if self._current is not None and path == self._current.path:
                self.rotate()
            found = segments.existing(path)
            if found is not None:
                return found
        return None

    def read(self, segment: Segment) -> tuple[list[bytes], list[bytes]] | None:
        """The segment's events and damaged lines; None if it can't be read: this process then skips the segment."""
        try:
            return segment.lines()
        except OSError as error:
            report("reading of the spool", error)
            self._done_with.add(segment.path)
            return None

    def finish(self, segment: Segment) -> None:
        """Remove a sent segment. If that fails, this process skips the segment from now on."""
        try:
            segment.remove()
        except OSError as error:
            report("removal from the spool", error)
            self._done_with.add(segment.path)

    def is_empty(self) -> bool:
        """Whether no event waits."""
        return not self._paths()

    def count(self) -> int:
        """Number of waiting events; a file that can't be read counts as one."""
        return sum(_count(path) for path in self._listed())

    def reject(self, lines: list[tuple[bytes, str]]) -> None:
        """Keep events that the platform refused, with the reasons, as long as there is room."""
        data = [b'{"reason": %b, "event": %b}\n' % (json.dumps(why).encode(), line.rstrip()) for line, why in lines]
        self._set_aside(REJECTED, data)

    def set_aside(self, damaged: list[bytes]) -> None:
        """Keep lines that are not events, as long as there is room."""
        self._set_aside(DAMAGED, damaged)
        log.warning(
            "%d lines of the spool are no events: a full disk or a crash cut them short; see %s",
            len(damaged),
            self.directory / DAMAGED,
        )

    def forget(self) -> None:
        """Leave the current segment to the parent process, after a fork; another worker may have been killed since."""
        self._current = None
        self._has_adopted = False

    def _set_aside(self, name: str, lines: list[bytes]) -> None:
        try:
            self._make_folder()
            if not _append_aside(self.directory / name, b"".join(lines)):
                log.warning("%s is full: %d lines are not kept", self.directory / name, len(lines))
        except OSError as error:
            report(f"writing to {name}", error)

    def _segment_for(self, size: int) -> Segment:
        current = self._current
        if current is not None and not current.path.exists():
            # Somebody has emptied the folder: lines that are written to a removed file would be lost.
            current.release()
            current = self._current = None
        if current is None or (current.size and current.size + size > SEGMENT_BYTES):
            self.rotate()
            current = self._current = self._new()
        return current

    def _make_folder(self) -> None:
        make_private_folder(self.directory)

    def _tell_purpose(self) -> None:
        try:
            if self._purpose is not None:
                self._purpose.write(self.directory)
        except OSError as error:  # the events matter more
            report("telling what a spool is for", error)

    def new_waiting(self) -> Segment:
        """A file for events that wait, which is no segment of the spool before its process is killed.

        Raises:
            OSError: The file can't be created.
        """
        return self._new(waiting.SUFFIX)

    def _new(self, suffix: str = SUFFIX) -> Segment:
        self._make_folder()
        self._tell_purpose()
        for _ in range(_TRIES):
            name = f"{time.time_ns():020d}-{os.getpid()}-{os.urandom(4).hex()}{suffix}"
            made = segments.new(self.directory / name)
            if made is not None:
                return made
        raise OSError("other processes removed each new file")

    def _listed(self) -> list[Path]:
        try:
            return sorted(path for path in self.directory.iterdir() if path.suffix == SUFFIX)
        except FileNotFoundError:
            return []
        except OSError as error:
            report("listing of the spool", error)
            return []

    def _paths(self) -> list[Path]:
        found = self._listed()
        return [path for path in found if path not in self._done_with] if self._done_with else found

    def _make_room(self, size: int) -> int:
        dropped = 0
        sizes = {path: size_of(path) for path in self._listed()}
        total = sum(sizes.values()) + size
        for path, held in sizes.items():
            if total <= self._max_bytes:
                break
            if path in self._done_with:
                continue
            if self._current is not None and path == self._current.path:
                self.rotate()
            found = segments.existing(path)
            if found is not None:
                dropped += _count(path)
                total -= held
                self.finish(found)
        return dropped


def default_directory(endpoint: str, owner: str | None) -> Path:
    """The spool folder of a platform and of a project or key, in the user's state folder."""
    return state_directory() / "spool" / folder_name(endpoint, owner)


def state_directory() -> Path:
    """The folder for files of the recorder, in the user's home."""
    state = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(state) if state else Path.home() / ".local" / "state") / "memtrace"


def folder_name(endpoint: str, owner: str | None) -> str:
    """The name of the spool folder of a platform and of a project or key: one folder never serves two projects."""
    return blake2b(f"{endpoint}\n{owner or ''}".encode(), digest_size=8).hexdigest()


def _count(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0
    except OSError:
        return 1


def size_of(path: Path) -> int:
    """The size of a file in bytes; 0 if another process has removed it, or it can't be looked at."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _append_aside(path: Path, data: bytes) -> bool:
    """Append lines to a file that only this user can read.

    If a full disk has cut off the file's last line, a line end is written first.

    Returns:
        False if the lines don't fit into ``MAX_ASIDE_BYTES``; nothing is written then.

    Raises:
        OSError: The file can't be written; a part of the lines may be written.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        end = os.lseek(descriptor, -1, os.SEEK_END) + 1 if os.fstat(descriptor).st_size else 0
        if end + len(data) > MAX_ASIDE_BYTES:
            return False
        if end and os.read(descriptor, 1) != b"\n":
            data = b"\n" + data
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)
    return True
