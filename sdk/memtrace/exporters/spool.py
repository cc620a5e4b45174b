"""Events on disk while the platform is away: files of lines, replayed oldest first, bounded in size.

Each process appends to a segment of its own and holds its lock; a process that ends, or is killed, lets go of it, and
whoever replays next takes it over. A line that a crash cut short is left out. What the platform refused is kept
beside, with the reason, and is not replayed.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover (Windows has no such lock: one process a spool)
    fcntl = None  # type: ignore[assignment]

SEGMENT_BYTES = 1_000_000
MAX_BYTES = 256_000_000
MAX_REJECTED_BYTES = 16_000_000
_SUFFIX = ".ndjson"
_REJECTED = "rejected.jsonl"


@dataclass(slots=True)
class Segment:
    """A file of events that this process alone has in hand."""

    path: Path
    descriptor: int
    size: int = 0
    count: int = 0

    def lines(self) -> tuple[list[bytes], int]:
        """Its whole lines, and how many were cut short (0 or 1)."""
        data = self.path.read_bytes()
        *whole, torn = data.split(b"\n")
        return [line + b"\n" for line in whole if line], int(bool(torn))

    def remove(self) -> None:
        """It is sent."""
        self.path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Let go of it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class Spool:
    """A folder of segments for one platform and project.

    Args:
        directory: the folder, made when it is needed, for this user only.
        max_bytes: beyond this the oldest segments are dropped.
    """

    def __init__(self, directory: Path, max_bytes: int = MAX_BYTES) -> None:
        self.directory = directory
        self._max_bytes = max_bytes
        self._current: Segment | None = None

    def append(self, lines: list[bytes]) -> int:
        """Keep these lines.

        Returns:
            How many lines, old or new, were dropped for want of room.

        Raises:
            OSError: The folder can't be written to.
        """
        data = b"".join(lines)
        if len(data) > self._max_bytes:
            return len(lines)
        dropped = self._make_room(len(data))
        current = self._current
        if current is None or (current.size and current.size + len(data) > SEGMENT_BYTES):
            self.rotate()
            current = self._current = self._new()
        written = 0
        while written < len(data):
            written += os.write(current.descriptor, data[written:])
        current.size += len(data)
        current.count += len(lines)
        return dropped

    def rotate(self) -> None:
        """End the segment in hand: it may be replayed."""
        if self._current is not None:
            self._current.release()
            self._current = None

    def oldest(self) -> Segment | None:
        """The oldest segment that nobody else has in hand."""
        for path in self._paths():
            if self._current is not None and path == self._current.path:
                self.rotate()
            segment = _locked(path)
            if segment is not None:
                return segment
        return None

    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not self._paths()

    def count(self) -> int:
        """How many events wait."""
        return sum(path.read_bytes().count(b"\n") for path in self._paths())

    def reject(self, lines: list[tuple[bytes, str]]) -> None:
        """Keep what the platform refused, with the reasons, as far as there is room.

        Raises:
            OSError: The folder can't be written to.
        """
        self._make_folder()
        path = self.directory / _REJECTED
        kept = path.stat().st_size if path.exists() else 0
        data = b"".join(
            json.dumps({"reason": reason, "event": json.loads(line)}, ensure_ascii=False).encode() + b"\n"
            for line, reason in lines
        )
        if kept + len(data) > MAX_REJECTED_BYTES:
            return
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)

    def forget(self) -> None:
        """Leave the segment in hand to the process that this one was forked from."""
        self._current = None

    def _make_folder(self) -> None:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _new(self) -> Segment:
        self._make_folder()
        path = self.directory / f"{time.time_ns():020d}-{os.getpid()}-{os.urandom(4).hex()}{_SUFFIX}"
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        _lock(descriptor)
        return Segment(path, descriptor)

    def _paths(self) -> list[Path]:
        try:
            return sorted(path for path in self.directory.iterdir() if path.suffix == _SUFFIX)
        except FileNotFoundError:
            return []

    def _make_room(self, size: int) -> int:
        dropped = 0
        sizes = {path: _size(path) for path in self._paths()}
        total = sum(sizes.values()) + size
        for path, held in sizes.items():
            if total <= self._max_bytes:
                break
            if self._current is not None and path == self._current.path:
                self.rotate()
            segment = _locked(path)
            if segment is not None:
                dropped += len(segment.lines()[0])
                segment.remove()
                total -= held
        return dropped


def default_directory(endpoint: str, owner: str | None) -> Path:
    """Where the spool for this platform and project is: in the user's state folder."""
    state = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    place = Path(state) if state else Path.home() / ".local" / "state"
    return place / "memtrace" / "spool" / folder_name(endpoint, owner)


def folder_name(endpoint: str, owner: str | None) -> str:
    """The name of the folder of a platform and a project or key, so that nothing is replayed into another project."""
    return blake2b(f"{endpoint}\n{owner or ''}".encode(), digest_size=8).hexdigest()


def _locked(path: Path) -> Segment | None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    # Between the listing and the lock another process may have replayed and removed it.
    if _lock(descriptor) and path.exists():
        return Segment(path, descriptor)
    os.close(descriptor)
    return None


def _lock(descriptor: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
