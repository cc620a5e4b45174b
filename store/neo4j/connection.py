"""A connection to one Neo4j database, with retries, and errors in plain words.

Callers name the text to run, a file in ``store/neo4j/queries``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import neo4j
from neo4j import exceptions

from schema.errors import InputError, StoreError
from schema.migrations import migrations, too_old
from store.neo4j.queries import sent

T = TypeVar("T")


class TakenError(StoreError):
    """An element to be created has an id that is already stored."""


Read = Callable[..., Awaitable[list[list[Any]]]]
"""Takes the name, the subject and the parameters of a text, and returns the rows, read in a transaction."""

_CONNECT_SECONDS = 10.0
_RETRY_SECONDS = 60.0
_RETRY_SHARE = 0.25
"""The share of the bound on waits in which a read is tried again."""
_ATTEMPTS = 6


def layout_number() -> int:
    """The number of this program's layout."""
    return migrations("neo4j")[-1].number


async def run_text(
    transaction: neo4j.AsyncTransaction | neo4j.AsyncManagedTransaction,
    name: str,
    about: StrEnum | None = None,
    /,
    **parameters: Any,
) -> neo4j.AsyncResult:
    """Run a text in a transaction."""
    return await transaction.run(sent(name, about), given=parameters)


class Connection:
    """The driver of one database, shared by all projects in it."""

    def __init__(self, uri: str, user: str, password: str, database: str | None) -> None:
        if "@" in uri:
            # The message leaves out the URI, which may contain a password.
            raise StoreError("the URI of a Neo4j server takes no user and no password: give them apart from it")
        self.uri = uri
        self.database = database
        try:
            self._driver = neo4j.AsyncGraphDatabase.driver(
                uri,
                auth=(user, password),
                connection_timeout=_CONNECT_SECONDS,
                connection_acquisition_timeout=_RETRY_SECONDS,
                max_transaction_retry_time=_RETRY_SECONDS,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
            )
        except (exceptions.DriverError, ValueError) as error:
            raise StoreError(f"{uri}: not an address of a Neo4j server: {error}") from error
        self._wait: float | None = None
        self._usable = False
        self._opening = asyncio.Lock()
        self._writing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def bound_waits(self, seconds: float) -> None:
        """Have reads fail if the server gives no connection for so many seconds.

        Reads by default wait and retry for a minute, as writes always do.
        """
        self._wait = seconds

    async def close(self) -> None:
        """Close all connections to the server."""
        await self._driver.close()

    async def read(
        self, name: str, about: StrEnum | None = None, /, *, seconds: float | None = None, **parameters: Any
    ) -> list[list[Any]]:
        """The rows of a text, read in one transaction, which is repeated after a transient error.

        Args:
            name: of the text.
            about: the subject, for a template.
            seconds: the time limit.
            parameters: of the text.

        Raises:
            TimeoutError: ``seconds`` have passed.
        """

        async def work(read: Read) -> list[list[Any]]:
            return await read(name, about, **parameters)

        return await self.read_together(work, seconds=seconds)

    async def read_together(self, work: Callable[[Read], Awaitable[T]], *, seconds: float | None = None) -> T:
        """The result of ``work``, which reads in one transaction; repeated after a transient error.

        Raises:
            TimeoutError: ``seconds`` have passed.
            StoreError: the server can't be reached or used.
        """
        connected = asyncio.timeout(self._wait)

        @neo4j.unit_of_work(timeout=seconds)
        async def within(transaction: neo4j.AsyncManagedTransaction) -> T:
            connected.reschedule(None)

            async def read(name: str, about: StrEnum | None = None, /, **parameters: Any) -> list[list[Any]]:
                return await (await run_text(transaction, name, about, **parameters)).values()

            try:
                return await work(read)
            except (exceptions.ServiceUnavailable, exceptions.SessionExpired):
                if self._wait is not None:  # a connection was lost, and the next attempt needs another one
                    connected.reschedule(asyncio.get_running_loop().time() + self._wait)
                raise

        await self._open()
        try:
            async with self.session(neo4j.READ_ACCESS) as session, asyncio.timeout(seconds), connected:
                return await session.execute_read(within)
        except TimeoutError:
            if connected.expired():
                raise self._away() from None
            raise

    async def read_list(self, name: str, about: StrEnum | None = None, /, **parameters: Any) -> list[Any]:
        """All items of a text whose rows are lists of about 10,000 items.

        One row for each item would take 6 to 11 times as long.
        """
        return [item for row in await self.read(name, about, **parameters) for item in row[0]]

    def trace_lock(self, trace_id: str) -> asyncio.Lock:
        """A lock to hold while writing a trace, which keeps writers of this process from deadlocks with each other.

        In a deadlock between processes, the server ends one transaction, and the driver repeats that transaction.
        """
        return self._writing.setdefault(trace_id, asyncio.Lock())

    async def write(self, work: Callable[[neo4j.AsyncManagedTransaction], Awaitable[T]]) -> T:
        """Run ``work`` in one transaction, repeated while errors are transient (deadlocks)."""
        await self._open()
        async with self.session(neo4j.WRITE_ACCESS) as session:
            return await session.execute_write(work)

    async def change(self, name: str, /, **parameters: Any) -> list[list[Any]]:
        """The rows of a text that writes, in one transaction, repeated after a transient error."""

        async def work(transaction: neo4j.AsyncManagedTransaction) -> list[list[Any]]:
            return await (await run_text(transaction, name, **parameters)).values()

        return await self.write(work)

    async def run(self, name: str, about: StrEnum | None = None, /, **parameters: Any) -> list[list[Any]]:
        """The rows of a text with transactions of its own; the layout is not checked."""
        return await self.run_statement(sent(name, about), given=parameters)

    async def run_statement(self, statement: str, /, **parameters: Any) -> list[list[Any]]:
        """The rows of a statement, repeated after a transient error; running the statement twice must be harmless."""
        async with self.session(neo4j.WRITE_ACCESS) as session:
            for attempt in range(_ATTEMPTS):
                try:
                    return await (await session.run(statement, parameters)).values()
                except (exceptions.Neo4jError, exceptions.DriverError) as error:
                    if not error.is_retryable() or attempt == _ATTEMPTS - 1:
                        raise
                    await asyncio.sleep(0.1 * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    async def plan(self, name: str, about: StrEnum | None = None, /, **parameters: Any) -> list[str]:
        """The names of the operators in the server's plan for a text."""
        async with self.session(neo4j.READ_ACCESS) as session:
            result = await session.run("EXPLAIN " + sent(name, about), given=parameters)
            root = (await result.consume()).plan
        found: list[str] = []
        waiting = [root] if root else []
        while waiting:
            operator = waiting.pop()
            found.append(operator["operatorType"].partition("@")[0])
            waiting.extend(operator.get("children", ()))
        return found

    async def layout_version(self) -> int:
        """The number of the last applied migration; 0 if none was applied."""
        return int((await self.run("layout_version"))[0][0])

    async def connect(self) -> None:
        """Connect to the server, without retries.

        Raises:
            StoreError: the server can't be reached, or refuses the user.
        """
        async with self._plain_errors():
            await self._driver.verify_connectivity()

    async def _open(self) -> None:
        if self._usable:
            return
        async with self._opening:
            if self._usable:
                return
            try:
                async with asyncio.timeout(self._wait):
                    await self.connect()
            except TimeoutError:
                raise self._away() from None
            await self.check_layout()

    async def check_layout(self) -> None:
        """Check that the database has this program's layout.

        Raises:
            StoreError: the layout is older or newer.
        """
        version, known = await self.layout_version(), layout_number()
        problem = too_old("neo4j", [version])
        if problem is not None:
            raise StoreError(f"{self.uri}: {problem}")
        if version < known:
            raise StoreError(
                f"{self.uri}: the layout is number {version} and {known} is needed: run `memtrace migrate`"
            )
        if version > known:
            raise StoreError(
                f"{self.uri}: the layout is number {version}, made by a newer MemTrace, and this one knows {known}: "
                "update it (`memtrace migrate` does not go back)"
            )
        self._usable = True

    @asynccontextmanager
    async def session(self, access: str, fetch_size: int | None = None) -> AsyncIterator[neo4j.AsyncSession]:
        """A session, for reading or for writing, whose errors are raised in plain words.

        Args:
            access: ``neo4j.READ_ACCESS`` or ``neo4j.WRITE_ACCESS``.
            fetch_size: rows that the server sends at once; None for the driver's default.
        """
        bounds: dict[str, Any] = {} if fetch_size is None else {"fetch_size": fetch_size}
        if self._wait is not None and access == neo4j.READ_ACCESS:
            bounds["max_transaction_retry_time"] = _RETRY_SHARE * self._wait
        async with (
            self._plain_errors(),
            self._driver.session(
                database=self.database,
                default_access_mode=access,
                bookmark_manager=self._driver.execute_query_bookmark_manager,
                **bounds,
            ) as session,
        ):
            yield session

    def _away(self) -> StoreError:
        return StoreError(f"{self.uri}: the server can't be reached: it gave no connection for {self._wait:g} s")

    @asynccontextmanager
    async def _plain_errors(self) -> AsyncIterator[None]:
        try:
            yield
        except exceptions.AuthError as error:
            raise StoreError(f"{self.uri}: the server refuses the user name or the password") from error
        except (exceptions.ServiceUnavailable, exceptions.SessionExpired) as error:
            reason = " ".join(str(error).split())
            raise StoreError(f"{self.uri}: the server can't be reached: {reason}") from error
        except exceptions.ConstraintError as error:
            raise TakenError(f"{self.uri}: {error.code}: {error.message}") from error
        except exceptions.Neo4jError as error:
            raise StoreError(f"{self.uri}: {error.code}: {error.message}") from error
        except exceptions.DriverError as error:
            raise StoreError(f"{self.uri}: {error}") from error
        except UnicodeEncodeError as error:
            raise InputError("", "", f"text that is not valid Unicode can't be stored: {error}") from error
