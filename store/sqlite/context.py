"""A transaction on a SQLite file for one project, and small helpers of all queries: keys, cursors, audit entries."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Any
from zlib import crc32

import apsw
import msgspec

from schema.control import AuditEntry
from schema.errors import InputError
from schema.ids import ID_LENGTH
from schema.models import Variable
from schema.times import to_microseconds
from store.contract.answers import Label, Span
from store.shared.record_rows import AUDIT_ENTRIES
from store.sqlite.queries import Table, sql
from store.sqlite.rows import RowReader

FIRST_ID = "0" * ID_LENGTH
_HEX = re.compile("[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class ReadContext:
    """A connection inside a transaction, and the project of all queries."""

    connection: apsw.Connection
    project_id: str

    def rows(self, name: str, about: StrEnum | None = None, /, **bindings: Any) -> list[Any]:
        """The rows of a text, run with the project bound; ``about`` is the subject of a template."""
        return self.connection.execute(sql(name, about), {"project": self.project_id, **bindings}).fetchall()

    def reader(self) -> RowReader:
        """A new reader of rows."""
        return RowReader(self.connection, self.project_id)


def keys_of(context: ReadContext, label: Label, ids: Sequence[str]) -> dict[str, int]:
    """The keys of the elements with these ids, by id; unknown and malformed ids are left out."""
    well_formed = [id_ for id_ in ids if is_hex(id_) and len(id_) == ID_LENGTH]
    name = "traces.keys" if label is Label.TRACE else "elements.keys"
    rows = context.rows(name, label, ids=msgspec.json.encode(well_formed).decode())
    return {key.hex(): k for k, key in rows}


def in_order(variables: Iterable[Variable]) -> list[Variable]:
    """The variables in the order of their trace."""
    return sorted(variables, key=attrgetter("sequence"))


def is_hex(text: str) -> bool:
    """Whether a text is lower-case hexadecimal."""
    return _HEX.fullmatch(text) is not None


def text_hash(text: str) -> int:
    """The hash by which the table ``text`` is searched; queries also compare the text itself."""
    return crc32(text.encode())


def wanted(words: Collection[str]) -> str | None:
    """Words as a JSON parameter; None, for all, if no words are given."""
    return msgspec.json.encode(sorted(words)).decode() if words else None


def narrowing(kinds: Collection[str], when: Span) -> dict[str, Any]:
    """The parameters that narrow elements to kinds and to a time."""
    return {"kinds": wanted(kinds), "begin": to_microseconds(when.since), "end": to_microseconds(when.until)}


def number_cursor(cursor: str) -> tuple[int, int]:
    """A cursor of two numbers: sequence and key."""
    found = re.fullmatch(r"(\d{1,18}):(\d{1,18})", cursor)
    if not found:
        raise _bad_cursor(cursor)
    return int(found[1]), int(found[2])


def id_cursor(cursor: str | None, start: str) -> tuple[str, str]:
    """A cursor of a place, written like ``start``, and an id."""
    if cursor is None:
        return start, FIRST_ID
    place = "[0-9a-f]{32}" if start == FIRST_ID else r"-?\d{1,18}"
    found = re.fullmatch(f"({place}):([0-9a-f]{{32}})", cursor)
    if not found:
        raise _bad_cursor(cursor)
    return found[1], found[2]


def _bad_cursor(cursor: str) -> InputError:
    return InputError("cursor", "", f"{cursor[:80]!r} is not a cursor of this list")


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
