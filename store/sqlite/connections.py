"""Connections to one SQLite file: one for writing and a few for reading, each in a thread of its own.

SQLite has one writer at a time. Writes of this process queue on one thread, and writes of other processes wait for the
file's lock. Readers never wait (write-ahead log).
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from schema.errors import DamagedError, DiskFullError, StoreError
from store.runtime.garbage_collector import collector_paused
from store.runtime.private_files import has_room, make_private

T = TypeVar("T")

_READERS = 4
_BUSY_SECONDS = 120
_AGAIN_SECONDS = 0.002
"""How soon a locked file is tried again. SQLite's own waits grow to 100 ms, during which a process that writes without
pause takes the lock again and again."""
_CACHE_KIBIBYTES = 65_536
_CHECK_SECONDS = 5.0
_REFUSED_SECONDS = 30.0
_INCREMENTAL = 2
_MOST_REWRITTEN_BYTES = 512 << 20
"""Largest content of a file that ``shrink`` writes anew; nobody else can write meanwhile."""


class Connections:
    """Runs functions that take a connection, on the writing thread or on a reading thread."""

    def __init__(self, path: Path, shrinks: bool = False) -> None:
        """Opens nothing.

        Args:
            path: the file.
            shrinks: whether a new file is made so that ``shrink`` is quick.
        """
        self.path = path
        self._shrinks = shrinks
        self._writer = ThreadPoolExecutor(1, "sqlite-write")
        self._readers = ThreadPoolExecutor(_READERS, "sqlite-read")
        self._local = threading.local()
        self._open: list[apsw.Connection] = []
        self._lock = threading.Lock()
        self._damage: str | None = None
        self._checked_at: float | None = None
        self._check: StoreError | None = None
        self._refused: tuple[float, StoreError] | None = None
        """Time and error of the last write that the disk refused."""

    async def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run ``work`` in one transaction, which is rolled back if ``work`` raises."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._in_transaction, "IMMEDIATE", work)

    async def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run ``work`` on one consistent state of the file."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._in_transaction, "DEFERRED", work)

    async def inspect(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run ``work`` on a new connection, whose cache is empty."""

        def run() -> T:
            try:
                with contextlib.closing(
                    apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
                ) as connection:
                    return work(connection)
            except apsw.Error as error:
                raise self._error(error) from error

        return await asyncio.get_running_loop().run_in_executor(self._readers, run)

    async def check(self) -> None:
        """Check that the file can be written, by a write that changes nothing, at most every five seconds.

        A tiny write may succeed where a larger write fails, so a write that the disk refused lately counts as well.

        Raises:
            DamagedError: an earlier read or write found the file damaged.
            DiskFullError: the disk is full.
            StoreError: writing fails for another reason.
        """
        if self._damage is not None:
            raise DamagedError(self._damage)
        if self._refused is not None and time.monotonic() - self._refused[0] < _REFUSED_SECONDS:
            raise type(self._refused[1])(str(self._refused[1]))
        if self._checked_at is None or time.monotonic() - self._checked_at >= _CHECK_SECONDS:
            self._checked_at = time.monotonic()
            self._check = await asyncio.to_thread(self._try_to_write)
        if self._check is not None:
            raise type(self._check)(str(self._check))

    def _try_to_write(self) -> StoreError | None:
        """Try a write on a new connection, because the writing connection may be busy for long without an error."""
        try:
            if not has_room(self.path.absolute().parent):
                return DiskFullError(f"{self.path}: the disk is full")
            with contextlib.closing(apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
                connection.pragma("synchronous", "full")
                connection.execute("BEGIN IMMEDIATE")
                connection.pragma("user_version", connection.pragma("user_version"))
                connection.execute("COMMIT")
        except apsw.BusyError:
            self._checked_at = None  # a busy file says nothing: try again at the next check
            return None
        except apsw.Error as error:
            return self._error(error)
        except OSError as error:
            return StoreError(f"{self.path}: {error.strerror}")
        return None

    def _error(self, error: apsw.Error) -> StoreError:
        message = f"{self.path}: {_explain(error)}"
        if isinstance(error, apsw.CorruptError | apsw.NotADBError):
            # Damage stays until the file is restored: every later check reports the damage.
            self._damage = message
            return DamagedError(message)
        return DiskFullError(message) if isinstance(error, apsw.FullError) else StoreError(message)

    async def shrink(self) -> None:
        """Give unused room of the file back to the disk.

        A file that is mostly unused is written anew. An older file, made without this possibility, is shortened only
        then.

        Raises:
            StoreError: the file can't be used.
        """

        def run() -> None:
            try:
                connection = self._connection()
                used, free = _sizes(connection)
                if used <= min(free, _MOST_REWRITTEN_BYTES):
                    connection.execute("VACUUM")
                elif connection.pragma("auto_vacuum") == _INCREMENTAL:
                    for _ in connection.execute("PRAGMA incremental_vacuum"):
                        pass
                with contextlib.suppress(apsw.BusyError):  # somebody reads: a later checkpoint makes the file shorter
                    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.Error as error:
                raise self._error(error) from error

        await asyncio.get_running_loop().run_in_executor(self._writer, run)

    async def close(self) -> None:
        """Close all connections; closing the last connection folds the write-ahead log into the file."""

        def close() -> None:
            self._writer.shutdown()
            self._readers.shutdown()
            for connection in self._open:
                connection.close()
            self._open.clear()

        await asyncio.to_thread(close)

    def _in_transaction(self, mode: str, work: Callable[[apsw.Connection], T]) -> T:
        try:
            connection = self._connection()
            connection.execute(f"BEGIN {mode}")
            try:
                with collector_paused():
                    result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except apsw.NoMemError as error:
            raise MemoryError from error
        except apsw.Error as error:
            problem = self._error(error)
            if mode == "IMMEDIATE" and isinstance(error, apsw.FullError | apsw.IOError):
                self._refused = time.monotonic(), problem
            raise problem from error
        return result

    def _connection(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            make_private(self.path)
            connection = apsw.Connection(str(self.path), statementcachesize=256)
            connection.set_busy_handler(_Patience().wait)
            add_functions(connection)
            if self._shrinks:
                connection.pragma("auto_vacuum", _INCREMENTAL)  # an existing file changes only by VACUUM
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", "full")
            connection.pragma("cache_size", -_CACHE_KIBIBYTES)
            connection.pragma("temp_store", "memory")
            self._local.connection = connection
            with self._lock:
                self._open.append(connection)
        return connection


class _Patience:
    """How long one connection waits for a lock that another process holds."""

    def __init__(self) -> None:
        self._until = 0.0

    def wait(self, tries: int) -> bool:
        """Wait a moment; returns whether to try again.

        Args:
            tries: number of earlier tries for the same lock.
        """
        if not tries:
            self._until = time.monotonic() + _BUSY_SECONDS
        time.sleep(_AGAIN_SECONDS)
        return time.monotonic() < self._until


def _sizes(connection: apsw.Connection) -> tuple[int, int]:
    """Used and unused bytes of the file."""
    size: int = connection.pragma("page_size")
    free: int = connection.pragma("freelist_count")
    pages: int = connection.pragma("page_count")
    return (pages - free) * size, free * size


def files_of(path: Path) -> list[Path]:
    """The paths of a SQLite file, its write-ahead log and its shared memory."""
    return [path.with_name(path.name + end) for end in ("", "-wal", "-shm")]


def _explain(error: apsw.Error) -> str:
    if isinstance(error, apsw.NotADBError):
        return "the file is not a SQLite database"
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return f"another process has been writing for more than {_BUSY_SECONDS} seconds"
    if isinstance(error, apsw.CantOpenError):
        return "the file can't be opened: check that its folder exists and may be written"
    if isinstance(error, apsw.FullError):
        return "the disk is full"
    if isinstance(error, apsw.CorruptError):
        return "the file is damaged"
    return f"{type(error).__name__}: {error}"


def add_functions(connection: apsw.Connection) -> None:
    """Add ``lowered`` to a connection: lower case for all scripts, like Neo4j's ``toLower``; ``lower`` is for ASCII."""
    connection.create_scalar_function("lowered", _lowered, 1, deterministic=True)


def _lowered(*arguments: apsw.SQLiteValue) -> str:
    (text,) = arguments
    return str(text).lower()
