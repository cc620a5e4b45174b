"""Writing entries of the audit log, inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from schema.control import AuditEntry
from store.shared.record_rows import AUDIT_ENTRIES
from store.sqlite.queries import sql
from store.sqlite.tables import Table


def check_entry(entry: AuditEntry | None, project_id: str) -> None:
    """Check that an entry, if there is one, is of a project.

    Raises:
        InputError: it is of another.
    """
    if entry is not None:
        AUDIT_ENTRIES.check_project(entry, project_id)


def insert_entries(connection: apsw.Connection, entries: Sequence[AuditEntry | None]) -> None:
    """Add entries; one whose id is known already stays as it is."""
    for entry in entries:
        if entry is not None:
            connection.execute(sql("tables.insert_new", Table.AUDIT_ENTRY), AUDIT_ENTRIES.values(entry))


def settle_entry(connection: apsw.Connection, entry: AuditEntry) -> None:
    """Set the outcome of an entry that was written as ``BEGUN``."""
    bindings = {"id": entry.id, "project": entry.project_id, "outcome": entry.outcome}
    connection.execute(sql("records.settle_entry"), bindings)
