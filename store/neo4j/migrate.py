"""Bringing the layout of a Neo4j database up to date.

Only one process migrates at a time. It holds a lock that expires, so that a killed process blocks the others only for a
short time. Each statement may be run twice, so the next process can repeat what a killed one has begun.
"""

from __future__ import annotations

import asyncio
import time
from uuid import uuid4

from schema.errors import StoreError
from schema.migrations import Migration, migrations
from store.neo4j.connection import Connection

_LOCK_SECONDS = 60
_RENEW_SECONDS = 15
_POLL_SECONDS = 0.25


async def migrate(connection: Connection) -> list[str]:
    """Apply the missing migrations; their names."""
    await connection.connect()
    await connection.run("migration_lock_constraint")
    await connection.run("migration_constraint")
    lock = _Lock(connection, uuid4().hex)
    await lock.hold()
    try:
        applied = await applied_migrations(connection)
        done = []
        for migration in migrations("neo4j"):
            if migration.number not in applied:
                await _apply(connection, lock, migration)
                done.append(f"{migration.number:04d}_{migration.name}")
        return done
    finally:
        await connection.run("migration_unlock", owner=lock.owner)


async def applied_migrations(connection: Connection) -> dict[int, str]:
    """Names of the migrations that were applied, by number."""
    return dict((await connection.run("migrations_applied"))[0][0])


class _Lock:
    """The lock of the layout.

    It is taken again only after some time, not before each statement: the server forgets all its plans when the layout
    changes, and planning the text of the lock took most of the time of a migration.
    """

    def __init__(self, connection: Connection, owner: str) -> None:
        self._connection = connection
        self._renew_at = 0.0
        self.owner = owner

    async def hold(self) -> None:
        """Wait for the lock; if it is held already, and has been for some time, hold it for longer."""
        while (now := time.monotonic()) >= self._renew_at:
            if await self._connection.run("migration_lock", owner=self.owner, seconds=_LOCK_SECONDS):
                self._renew_at = now + _RENEW_SECONDS
            else:
                await asyncio.sleep(_POLL_SECONDS)


async def _apply(connection: Connection, lock: _Lock, migration: Migration) -> None:
    for statement in migration.statements:
        await lock.hold()
        await connection.run_statement(statement)
    while states := {name: state for name, state in (await index_states(connection)).items() if state != "ONLINE"}:
        failed = sorted(name for name, state in states.items() if state == "FAILED")
        if failed:
            raise StoreError(f"{connection.uri}: the server can't build {', '.join(failed)}: see its log")
        await lock.hold()
        await asyncio.sleep(_POLL_SECONDS)
    await connection.run("migration_done", number=migration.number, name=migration.name)


async def index_states(connection: Connection) -> dict[str, str]:
    """States of all indexes by name; those of constraints have the constraint's name."""
    return dict((await connection.run("indexes"))[0][0])
