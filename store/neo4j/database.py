"""A Neo4j server as a database of traces."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from typing_extensions import override

from store.contract.answers import Health
from store.contract.protocol import Database
from store.contract.records import ProjectRecords
from store.neo4j.connection import Connection, layout_number
from store.neo4j.health import inspect
from store.neo4j.migrate import migrate
from store.neo4j.records import Neo4jRecords, Neo4jRegistry
from store.neo4j.store import Neo4jStore
from store.shared.closing import Closing
from store.values.contract import ValueStore


class Neo4jDatabase(Closing, Database):
    """The store of a team: the graph in Neo4j, the values in a value store."""

    def __init__(self, uri: str, user: str, password: str, values: ValueStore, database: str | None = None) -> None:
        """Remember the settings; the first use connects.

        Args:
            uri: ``neo4j://host:port``, ``bolt://host:port``, or either with ``+s`` or ``+ssc``.
            user: of the server.
            password: of the user; no error shows the password.
            values: the store for long values.
            database: name of the database on the server; None for the user's default database.

        Raises:
            StoreError: the URI has none of these forms.
        """
        self._connection = Connection(uri, user, password, database)
        self._values = values

    @override
    def bound_waits(self, seconds: float) -> None:
        self._connection.bound_waits(seconds)

    @override
    def project(self, project_id: str, log: ProjectRecords | None = None) -> Neo4jStore:
        return Neo4jStore(self._connection, project_id, self._values, log)

    @override
    def records(self, project_id: str) -> Neo4jRecords:
        return Neo4jRecords(self._connection, project_id)

    @override
    def registry(self) -> Neo4jRegistry:
        return Neo4jRegistry(self._connection)

    async def prepare(self) -> None:
        """Connect, and give an empty database the current layout. Any other layout is checked at the first use.

        Raises:
            StoreError: the server can't be reached.
        """
        await self._connection.connect()
        if await self.layout_version() == 0 and await self.is_empty():
            await self.migrate()

    @override
    async def migrate(self) -> list[str]:
        return await migrate(self._connection)

    @override
    async def has_current_layout(self) -> bool:
        return await self.layout_version() == layout_number()

    async def layout_version(self) -> int:
        """The number of the last applied migration; 0 if none was applied."""
        return await self._connection.layout_version()

    async def is_empty(self) -> bool:
        """Whether the database has no nodes except for those of migrations."""
        return not (await self._connection.run("has_data"))[0][0]

    async def plan(self, name: str, about: StrEnum | None = None, /, **parameters: Any) -> list[str]:
        """The names of the operators in the server's plan for a text of ``store/neo4j/queries``."""
        return await self._connection.plan(name, about, **parameters)

    @override
    async def check(self) -> None:
        """Check the disk with the values; the server's disk is unknown to this process."""
        await self._values.check_room()

    @override
    async def health(self) -> Health:
        return await inspect(self._connection, self._values)

    @override
    async def close(self) -> None:
        await self._connection.close()
