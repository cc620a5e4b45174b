"""A SQLite file as a database of traces."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import apsw
from typing_extensions import override

from schema.errors import StoreError
from schema.migrations import migrations
from store.contract.answers import Direction, Health
from store.contract.protocol import Database
from store.contract.records import ProjectRecords
from store.runtime.private_files import opened_to_others
from store.shared.closing import Closing
from store.sqlite.connections import Connections, files_of
from store.sqlite.migrate import applied_migrations, is_current, migrate
from store.sqlite.queries import sql
from store.sqlite.records import SqliteRecords, SqliteRegistry
from store.sqlite.rows import bind_keys
from store.sqlite.store import SqliteStore
from store.values.contract import ValueStore
from store.values.packs import PackCache

_LOW_SPACE_BYTES = 1 << 30


class SqliteDatabase(Closing, Database):
    """The embedded store: everything in one file, or only the graph if a value store is given."""

    def __init__(self, path: Path, values: ValueStore | None = None) -> None:
        """Remember the settings; the first use opens the file.

        Args:
            path: the file.
            values: the store for long values; None keeps long values in the file.
        """
        self.path = path
        self._values = values
        self._connections = Connections(path)
        self._packs = PackCache()

    @override
    def project(self, project_id: str, log: ProjectRecords | None = None) -> SqliteStore:
        return SqliteStore(self._connections, project_id, self._values, self._packs, log)

    @override
    def records(self, project_id: str) -> SqliteRecords:
        return SqliteRecords(self._connections, project_id)

    @override
    def registry(self) -> SqliteRegistry:
        return SqliteRegistry(self._connections)

    @override
    async def migrate(self) -> list[str]:
        """Bring the layout up to date; a missing file is made."""
        return await self._connections.write(migrate)

    @override
    async def has_current_layout(self) -> bool:
        return await self._connections.read(is_current)

    @override
    async def check(self) -> None:
        await self._connections.check()
        if self._values is not None:
            await self._values.check_room()

    @override
    async def health(self) -> Health:
        """Version, layout, integrity, the plan of the closure, and free space."""
        details, problems = await self._connections.inspect(_inspect)
        free = (await asyncio.to_thread(shutil.disk_usage, self.path.absolute().parent)).free
        warnings = await asyncio.to_thread(lambda: opened_to_others(files_of(self.path)))
        details |= {"warnings": warnings} if warnings else {}
        details |= {"path": str(self.path), "values": "in the file", "freeBytes": free}
        if free < _LOW_SPACE_BYTES:
            problems.append(f"only {free >> 20} MiB are free beside {self.path}")
        if self._values is not None:
            details["values"] = "outside the file"
            try:
                await self._values.check()
            except StoreError as error:
                problems.append(str(error))
        return Health("sqlite", apsw.sqlite_lib_version(), details, problems)

    @override
    async def close(self) -> None:
        await self._connections.close()


def _inspect(connection: apsw.Connection) -> tuple[dict[str, Any], list[str]]:
    problems = [f"damaged: {row[0]}" for row in connection.execute("PRAGMA quick_check(5)") if row[0] != "ok"]
    applied = applied_migrations(connection)
    missing = [migration for migration in migrations("sqlite") if migration.number not in applied]
    problems.extend(f"migration {migration.number:04d}_{migration.name} is missing" for migration in missing)
    explain = "EXPLAIN QUERY PLAN " + sql("walk.closure", Direction.BACKWARD)
    plan = [row[3] for row in connection.execute(explain, {"roots": bind_keys([0])})]
    if not any("derivation_by_target" in line for line in plan):
        problems.append("the closure does not use the index derivation_by_target")
    return {"migrations": list(applied.values()), "closurePlan": plan}, problems
