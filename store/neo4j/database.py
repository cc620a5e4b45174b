"""A Neo4j server as a database of traces."""

from __future__ import annotations

from typing import Any

from store.answers import Health
from store.closing import Closing
from store.neo4j.connection import Connection, layout_number
from store.neo4j.health import inspect
from store.neo4j.migrate import migrate
from store.neo4j.records import Neo4jRecords, Neo4jRegistry
from store.neo4j.store import Neo4jStore
from store.records import ProjectRecords
from store.values import ValueStore


class Neo4jDatabase(Closing):
    """The team's store: the graph in Neo4j, the values beside it. Implements ``store.protocol.Database``."""

    def __init__(self, uri: str, user: str, password: str, values: ValueStore, database: str | None = None) -> None:
        """Nothing is opened yet.

        Args:
            uri: ``neo4j://host:port``, ``bolt://host:port``, or either with ``+s`` or ``+ssc``.
            user: of the server.
            password: of the user; no error shows it.
            values: where values are kept.
            database: of the server; None for the user's own.

        Raises:
            StoreError: the URI is none of these.
        """
        self._connection = Connection(uri, user, password, database)
        self._values = values

    def project(self, project_id: str, log: ProjectRecords | None = None) -> Neo4jStore:
        """The traces of one project; see ``Database.project``."""
        return Neo4jStore(self._connection, project_id, self._values, log)

    def records(self, project_id: str) -> Neo4jRecords:
        """The keys, jobs and audit log of one project."""
        return Neo4jRecords(self._connection, project_id)

    def registry(self) -> Neo4jRegistry:
        """Whose key it is, and which job is next."""
        return Neo4jRegistry(self._connection)

    async def prepare(self) -> None:
        """Make the layout of an empty database; that of another is looked at before its first use.

        Raises:
            StoreError: the server can't be reached.
        """
        await self._connection.connect()
        if await self.layout_version() == 0 and await self.is_empty():
            await self.migrate()

    async def migrate(self) -> list[str]:
        """Bring the layout up to date; several may call it at once."""
        return await migrate(self._connection)

    async def has_current_layout(self) -> bool:
        """Whether the layout is the one that this program knows."""
        return await self.layout_version() == layout_number()

    async def layout_version(self) -> int:
        """The number of the last migration that was applied; 0 where none was."""
        return await self._connection.layout_version()

    async def is_empty(self) -> bool:
        """Whether nothing but traces of a migration is in the database."""
        return not (await self._connection.run("has_data"))[0][0]

    async def plan(self, name: str, **parameters: Any) -> list[str]:
        """The names of the operators by which the server would run a text of ``schema/cypher``."""
        return await self._connection.plan(name, **parameters)

    async def check(self) -> None:
        """See ``Database.check``. Of the server's own disk this machine can tell nothing."""
        await self._values.check_room()

    async def health(self) -> Health:
        """Version, layout, indexes, the plans of the closures, and the place of the values."""
        return await inspect(self._connection, self._values)

    async def close(self) -> None:
        """Close all connections to the server."""
        await self._connection.close()
