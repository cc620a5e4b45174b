"""Copies a SQLite file as of one moment, also while others write to it."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

import apsw

from schema.errors import StoreError

_TIMEOUT = 10_000
"""Milliseconds for which a lock of another process is waited for."""


def copy_file(source: Path, target: Path) -> int:
    """Copy a file, without its free space; only its user can read the copy.

    Returns:
        The size of the copy in bytes.

    Raises:
        StoreError: the file does not exist or is no SQLite file, or the copy exists or can't be written.
    """
    if not source.is_file():
        raise StoreError(f"{source}: does not exist")
    # Two copies at a time must not share a file.
    part = target.with_name(f".{target.name}.{uuid4().hex}.part")
    try:
        if target.exists():
            raise FileExistsError
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        connection = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(_TIMEOUT)
            connection.execute("VACUUM INTO ?", (str(part),))
        finally:
            connection.close()
        _sync(part)
        os.link(part, target)  # fails if the target has come meanwhile
        _sync(target.parent)
    except FileExistsError:
        raise StoreError(f"{target}: exists already, and is not overwritten") from None
    except (apsw.Error, OSError) as error:
        raise StoreError(f"{source} can't be copied to {target}: {error}") from error
    finally:
        part.unlink(missing_ok=True)
    return target.stat().st_size


def _sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
