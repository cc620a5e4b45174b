"""Connections to one SQLite file: one that writes and a few that read, each on threads of its own.

SQLite has one writer at a time. Writes of this process queue on one thread; those of other processes wait for the
file's lock. Readers never wait (write-ahead log).
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from schema.bulk import collector_paused
from schema.errors import StoreError

T = TypeVar("T")

_READERS = 4
_BUSY_MILLISECONDS = 120_000
_CACHE_KIBIBYTES = 65_536


class Connections:
    """Runs functions that take a connection, on the writing thread or on a reading one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer = ThreadPoolExecutor(1, "sqlite-write")
        self._readers = ThreadPoolExecutor(_READERS, "sqlite-read")
        self._local = threading.local()
        self._open: list[apsw.Connection] = []
        self._lock = threading.Lock()

    async def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run ``work`` in one transaction: all of it is committed, or nothing where it raises."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._in_transaction, "IMMEDIATE", work)

    async def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run ``work`` on one consistent state of the file."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._in_transaction, "DEFERRED", work)

    async def inspect(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run ``work`` on a connection of its own, which remembers nothing of the file."""

        def run() -> T:
            try:
                with contextlib.closing(
                    apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
                ) as connection:
                    return work(connection)
            except apsw.Error as error:
                raise StoreError(f"{self.path}: {_explain(error)}") from error

        return await asyncio.get_running_loop().run_in_executor(self._readers, run)

    async def close(self) -> None:
        """Close all connections; the last one folds the write-ahead log into the file."""

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
        except apsw.Error as error:
            raise StoreError(f"{self.path}: {_explain(error)}") from error
        return result

    def _connection(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = apsw.Connection(str(self.path), statementcachesize=256)
            connection.set_busy_timeout(_BUSY_MILLISECONDS)
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", "full")
            connection.pragma("cache_size", -_CACHE_KIBIBYTES)
            connection.pragma("temp_store", "memory")
            self._local.connection = connection
            with self._lock:
                self._open.append(connection)
        return connection


def _explain(error: apsw.Error) -> str:
    if isinstance(error, apsw.NotADBError):
        return "the file is not a SQLite database"
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return f"another process has been writing for more than {_BUSY_MILLISECONDS // 1000} seconds"
    if isinstance(error, apsw.CantOpenError):
        return "the file can't be opened: check that its folder exists and may be written"
    if isinstance(error, apsw.FullError):
        return "the disk is full"
    if isinstance(error, apsw.CorruptError):
        return "the file is damaged"
    return f"{type(error).__name__}: {error}"
