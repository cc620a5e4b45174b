"""Migrations of a SQLite file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import apsw

from schema.errors import StoreError
from schema.migrations import migrations, too_old
from schema.models import format_time
from store.sqlite.queries import Table, sql


def migrate(connection: apsw.Connection, layout: str = "sqlite") -> list[str]:
    """Apply the missing migrations inside the caller's transaction, which holds the file's lock meanwhile.

    Args:
        connection: inside a transaction that writes.
        layout: the name of the layout, ``sqlite`` for a store.

    Returns:
        The names of the migrations that were applied now.

    Raises:
        StoreError: the file has a newer or a too old layout, or belongs to another program.
    """
    applied = applied_migrations(connection, layout)
    done = []
    for migration in migrations(layout):
        if migration.number in applied:
            continue
        for statement in migration.statements:
            connection.execute(statement)
        row = (migration.number, migration.name, format_time(datetime.now(UTC)))
        connection.execute(sql("tables.insert", Table.MIGRATION), row)
        done.append(f"{migration.number:04d}_{migration.name}")
    return done


def applied_migrations(connection: apsw.Connection, layout: str = "sqlite") -> dict[int, str]:
    """The applied migrations of a file, name by number. The table of migrations is made if missing.

    Raises:
        StoreError: the file has a newer or a too old layout, or belongs to another program.
    """
    if not connection.execute(sql("migrations.exist")).get:
        if connection.execute(sql("migrations.any_tables")).get:
            raise StoreError("this SQLite file belongs to another program: it has tables, but no table of migrations")
        connection.execute(sql("migrations.create"))
    rows: list[Any] = connection.execute(sql("migrations.list")).fetchall()
    applied: dict[int, str] = dict(rows)
    newest = migrations(layout)[-1].number
    if any(number > newest for number in applied):
        raise StoreError(f"this SQLite file was written by a newer version (layout {max(applied)}, known is {newest})")
    problem = too_old(layout, applied)
    if problem is not None:
        raise StoreError(f"this SQLite file: {problem}")
    return applied


def is_current(connection: apsw.Connection) -> bool:
    """Whether the last applied migration of a store is the last one of this program."""
    rows: list[Any] = connection.execute(sql("migrations.list")).fetchall()
    return max((number for number, _ in rows), default=0) == migrations("sqlite")[-1].number
