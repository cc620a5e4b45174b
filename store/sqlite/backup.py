"""Copies a SQLite file as of one moment, also while others write to it."""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from schema.errors import StoreError

_TIMEOUT = 10_000
"""Milliseconds for which a lock of another process is waited for."""


def copy_file(source: Path, target: Path) -> int:
    """Copy a file, without its free space; only its user can read the copy.

    Returns:
        The size of the copy in bytes.

    Raises:
        StoreError: the file does not exist or is no store, or the copy exists or can't be written.
    """
    if not source.is_file():
        raise StoreError(f"{source}: does not exist")
    part = target.with_name(f".{target.name}.part")
    try:
        if target.exists():
            raise StoreError(f"{target}: exists already, and is not overwritten")
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        connection = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(_TIMEOUT)
            connection.execute("VACUUM INTO ?", (str(part),))
        finally:
            connection.close()
        part.replace(target)
    except (apsw.Error, OSError) as error:
        part.unlink(missing_ok=True)
        raise StoreError(f"{source} can't be copied to {target}: {error}") from error
    return target.stat().st_size
