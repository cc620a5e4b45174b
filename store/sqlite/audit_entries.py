"""Writes entries of the audit log, inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from schema.control import AuditEntry
from store.shared.record_rows import AUDIT_ENTRIES
from store.sqlite.queries import sql
from store.sqlite.tables import Table


def check_entry(entry: AuditEntry | None, project_id: str) -> None:
    """Check that an entry is None or of the project.

    Raises:
        InputError: the entry is of another project.
    """
    if entry is not None:
        AUDIT_ENTRIES.check_project(entry, project_id)


def insert_entries(connection: apsw.Connection, entries: Sequence[AuditEntry | None]) -> None:
    """Add entries that are not None; entries with a stored id are ignored."""
    for entry in entries:
        if entry is not None:
            connection.execute(sql("tables.insert_new", Table.AUDIT_ENTRY), AUDIT_ENTRIES.values(entry))


def settle_entry(connection: apsw.Connection, entry: AuditEntry) -> None:
    """Set the outcome of a stored entry from ``BEGUN`` to the outcome of ``entry``."""
    bindings = {"id": entry.id, "project": entry.project_id, "outcome": entry.outcome}
    connection.execute(sql("records.settle_entry"), bindings)
