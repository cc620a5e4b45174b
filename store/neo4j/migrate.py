"""Migrations of a Neo4j database.

One process migrates at a time, and holds a lock that expires, so that a killed process blocks the others only for a
short time. Running a statement twice is harmless, so the next process can repeat an interrupted migration.
"""

from __future__ import annotations

import asyncio
import time
from uuid import uuid4

from schema.errors import StoreError
from schema.migrations import Migration, migrations, too_old
from store.neo4j.connection import Connection

_LOCK_SECONDS = 60
_RENEW_SECONDS = 15
_POLL_SECONDS = 0.25


async def migrate(connection: Connection) -> list[str]:
    """Apply the missing migrations, and return their names.

    Raises:
        StoreError: the server can't be reached, or the layout is too old.
    """
    await connection.connect()
    await connection.run("migration_lock_constraint")
    await connection.run("migration_constraint")
    lock = _Lock(connection, uuid4().hex)
    await lock.hold()
    try:
        applied = await applied_migrations(connection)
        problem = too_old("neo4j", applied)
        if problem is not None:
            raise StoreError(f"{connection.uri}: {problem}")
        done = []
        for migration in migrations("neo4j"):
            if migration.number not in applied:
                await _apply(connection, lock, migration)
                done.append(f"{migration.number:04d}_{migration.name}")
        return done
    finally:
        await connection.run("migration_unlock", owner=lock.owner)


async def applied_migrations(connection: Connection) -> dict[int, str]:
    """The names of the applied migrations, by number."""
    return dict((await connection.run("migrations_applied"))[0][0])


class _Lock:
    """The lock of the layout.

    The lock is renewed every few seconds, not before each statement: the server drops all cached plans when the layout
    changes, and planning the text of the lock took most of the time of a migration.
    """

    def __init__(self, connection: Connection, owner: str) -> None:
        self._connection = connection
        self._renew_at = 0.0
        self.owner = owner

    async def hold(self) -> None:
        """Wait for the lock; renew a lock that was taken or renewed some time ago."""
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
    """The states of all indexes by name; the index of a constraint has the constraint's name."""
    return dict((await connection.run("indexes"))[0][0])
