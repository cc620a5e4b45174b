"""Keeps lines that will not be sent beside the spool, for people to look at; processes may share a file."""

from __future__ import annotations

import os
from pathlib import Path

REJECTED = "rejected.jsonl"
DAMAGED = "damaged.txt"
MAX_BYTES = 16_000_000


def set_aside(path: Path, data: bytes) -> bool:
    """Add lines to a file that only this user can read.

    If a full disk has cut off the last line in it, that line is ended first, so that no other line is joined to it.

    Returns:
        False if the file has no room for them: beyond ``MAX_BYTES`` nothing is kept.

    Raises:
        OSError: It can't be written; a part may have been written.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        end = os.lseek(descriptor, -1, os.SEEK_END) + 1 if os.fstat(descriptor).st_size else 0
        if end + len(data) > MAX_BYTES:
            return False
        if end and os.read(descriptor, 1) != b"\n":
            data = b"\n" + data
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)
    return True
