"""Keeps lines that will never be sent in files beside the spool, for people; processes may share a file."""

from __future__ import annotations

import os
from pathlib import Path

REJECTED = "rejected.jsonl"
DAMAGED = "damaged.txt"
MAX_BYTES = 16_000_000


def set_aside(path: Path, data: bytes) -> bool:
    """Append lines to a file that only this user can read.

    If a full disk has cut off the file's last line, a line end is written first.

    Returns:
        False if the lines don't fit into ``MAX_BYTES``; nothing is written then.

    Raises:
        OSError: The file can't be written; a part of the lines may be written.
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
