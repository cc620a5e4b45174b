"""Entries of the audit log, inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from schema.control import AuditEntry
from schema.texts import sql
from store.record_rows import AUDIT_ENTRIES


def check_entry(entry: AuditEntry | None, project_id: str) -> None:
    """Whether an entry, where there is one, is of a project.

    Raises:
        InputError: it is of another.
    """
    if entry is not None:
        AUDIT_ENTRIES.check_project(entry, project_id)


def insert_entries(connection: apsw.Connection, entries: Sequence[AuditEntry | None]) -> None:
    """Add entries; one whose id is known is left as it is."""
    for entry in entries:
        if entry is not None:
            connection.execute(sql("insert_audit_entry"), AUDIT_ENTRIES.values(entry))


def settle_entry(connection: apsw.Connection, entry: AuditEntry) -> None:
    """See ``ProjectRecords.settle``."""
    bindings = {"id": entry.id, "project": entry.project_id, "outcome": entry.outcome}
    connection.execute(sql("settle_audit_entry"), bindings)
