"""A transaction on a SQLite file for one project, and small helpers of all queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Any
from zlib import crc32

import apsw
import msgspec

from schema.ids import ID_LENGTH
from schema.models import Variable
from store.contract.answers import Label
from store.sqlite.queries import sql
from store.sqlite.rows import RowReader

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
