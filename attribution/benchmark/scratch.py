"""Stores for single files, temporary or kept in a folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from hashlib import blake2b
from pathlib import Path

from schema.errors import InputError
from store.contract.protocol import GraphStore
from store.open import open_database

PROJECT = "benchmark"


@asynccontextmanager
async def scratch_store(file: Path, work: Path | None = None) -> AsyncIterator[GraphStore]:
    """A store for one file; different files may have graphs of equal id.

    Args:
        file: gives the store its name.
        work: folder to keep the store in, so that a stopped run can continue; None keeps nothing.

    Raises:
        InputError: the folder can't be created.
    """
    with _folder(work) as folder:
        async with await open_database(f"sqlite:///{_database(folder, file)}", create=True) as database:
            yield database.project(PROJECT)


@contextmanager
def _folder(work: Path | None) -> Iterator[Path]:
    if work is None:
        with tempfile.TemporaryDirectory(prefix="memtrace-") as folder:
            yield Path(folder)
        return
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(work), "", f"can't be a folder for stores: {error.strerror or error}") from error
    yield work


def _database(folder: Path, file: Path) -> Path:
    digest = blake2b(os.fsencode(file.absolute()), digest_size=8).hexdigest()
    return (folder / f"{digest}.db").absolute()
