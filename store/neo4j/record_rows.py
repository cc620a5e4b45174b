"""Converts records to properties of nodes, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import neo4j.time

from schema.control import AuditEntry
from schema.microseconds import to_microseconds
from store.shared.record_rows import AUDIT_ENTRIES, Form, R


def entry_row(entry: AuditEntry, project_id: str) -> dict[str, Any]:
    """The properties of an entry of a project's audit log.

    Raises:
        InputError: the entry is of another project.
    """
    AUDIT_ENTRIES.check_project(entry, project_id)
    return row_of(AUDIT_ENTRIES, entry)


def row_of(form: Form[R], record: R) -> dict[str, Any]:
    """The properties of a record."""
    return dict(zip(form.names, form.natives(record), strict=True))


def record_of(form: Form[R], properties: Mapping[str, Any]) -> R:
    """The record with these properties."""
    values = (properties.get(name) for name in form.names)
    return form.read(
        to_microseconds(value.to_native()) if isinstance(value, neo4j.time.DateTime) else value for value in values
    )
