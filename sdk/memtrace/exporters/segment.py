"""A file of events that only one process at a time uses; a lock ensures this, and ends with the process."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover (Windows has no such lock: one process a spool)
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".ndjson"
_HELD_BY_ANOTHER = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES}


@dataclass(slots=True)
class Segment:
    """A file of events that only this process uses."""

    path: Path
    descriptor: int
    size: int = 0

    def write(self, data: bytes) -> None:
        """Add lines: all of them, or none.

        Raises:
            OSError: The disk is full, or fails. If it also fails to take back what was written of the lines, the end
                of the file is a part of a line, and nothing may be written after it.
        """
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self.descriptor, rest) :]
        except OSError:
            os.ftruncate(self.descriptor, self.size)
            raise
        self.size += len(data)

    def lines(self) -> tuple[list[bytes], list[bytes]]:
        """Its events, and the lines that are not events: cut off by a crash or a full disk, or joined with another.

        Raises:
            OSError: It can't be read.
        """
        *whole, torn = self.path.read_bytes().split(b"\n")
        found: list[bytes] = []
        damaged: list[bytes] = []
        for line in filter(None, whole):
            (found if _is_object(line) else damaged).append(line + b"\n")
        if torn:
            damaged.append(torn + b"\n")
        return found, damaged

    def remove(self) -> None:
        """Its lines are sent, or not wanted.

        Raises:
            OSError: The file can't be removed. It is empty then, where that was possible.
        """
        try:
            self.path.unlink(missing_ok=True)
        except OSError:
            os.ftruncate(self.descriptor, 0)
            raise
        finally:
            self.release()

    def release(self) -> None:
        """Release the lock."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def new(path: Path) -> Segment | None:
    """Create a file and lock it; None if another process took it for one that was left behind, and removes it.

    Raises:
        OSError: It can't be created.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
    return _held(path, descriptor)


def existing(path: Path) -> Segment | None:
    """Lock an existing file; None if it is gone, may not be opened, or is used by another process."""
    try:
        descriptor = _open(path)
    except OSError:
        return None
    return _held(path, descriptor)


def _held(path: Path, descriptor: int) -> Segment | None:
    # Between the listing, or the making, and the lock another process may have removed it.
    if _lock(descriptor) and path.exists():
        return Segment(path, descriptor)
    os.close(descriptor)
    return None


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR)
    except OSError:
        return os.open(path, os.O_RDONLY)


def _lock(descriptor: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # A file system without locks is as a system without them: what two processes send twice changes nothing.
        return error.errno not in _HELD_BY_ANOTHER
    return True


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line.decode("utf-8")), dict)
    except (ValueError, RecursionError):
        return False
