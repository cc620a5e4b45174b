"""CSV on standard output, as RFC 4180 describes it: for spreadsheets, and for programs that read tables.

The header row has the public names of the JSON documents, and the cells their values: times in ISO 8601 with ``Z``,
null as an empty cell, lists and objects as JSON. The encoding is UTF-8, without a byte order mark.

Recorded text is untrusted, and spreadsheets run a cell that begins like a formula. Such a text gets an apostrophe in
front (OWASP, "CSV Injection"), so that the cell is plain text. Numbers stay as they are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from api.cli.output import write_bytes
from api.cli.selection import chosen_columns

_FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")


class CsvTable:
    """A table on standard output, written in parts. The header row comes first."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = chosen_columns(columns)
        self._write([self._columns])

    def add(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Write a row for each document; members without a column are left out."""
        self._write([_cell(document[column]) for column in self._columns] for document in documents)

    def _write(self, rows: Iterable[Sequence[str]]) -> None:
        text = io.StringIO(newline="")
        csv.writer(text).writerows(rows)
        write_bytes(text.getvalue().encode())


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
    return msgspec.json.encode(value).decode()
