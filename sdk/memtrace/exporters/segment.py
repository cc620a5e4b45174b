"""A file of events with a lock: one process at a time uses the file. The lock ends with the process."""

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
HAS_LOCKS = fcntl is not None
"""Whether this system has file locks, which end with the process that holds them."""

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
            OSError: The disk is full, or fails. The file may then end with a part of a line, and nothing may be
                written after this part.
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
        """The events, and the damaged lines: cut off by a crash or a full disk, or joined with another line.

        Raises:
            OSError: The file can't be read.
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
        """Remove the file, and release the lock.

        Raises:
            OSError: The file can't be removed. It was emptied instead, if possible.
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
    """Create a file and lock it; None if another process takes the file for an abandoned one, and removes it.

    Raises:
        OSError: The file can't be created.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
    return _held(path, descriptor)


def existing(path: Path) -> Segment | None:
    """Lock an existing file; None if the file is gone, can't be opened, or another process uses it."""
    try:
        descriptor = _open(path)
    except OSError:
        return None
    return _held(path, descriptor)


def _held(path: Path, descriptor: int) -> Segment | None:
    # Another process may have removed the file before the lock.
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
        # Without locks on this file system, two processes may send the same events, which changes nothing.
        return error.errno not in _HELD_BY_ANOTHER
    return True


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line.decode("utf-8")), dict)
    except (ValueError, RecursionError):
        return False
