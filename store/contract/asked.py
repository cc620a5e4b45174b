"""Queries that people write in the language of a store: the bounds of an answer, the answer, and its errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schema.errors import MemTraceError

MOST_ROWS = 100_000
MOST_BYTES = 16 << 20
"""The bounds of an answer. Python's objects take about ten times the bytes of the answer's JSON."""


class QueryTimeoutError(MemTraceError):
    """A query exceeded its time limit."""


class TooMuchError(MemTraceError):
    """A query needs too much memory, or has too large an answer."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The result of a query.

    Attributes:
        columns: the names of the columns, in the query's order.
        rows: values of JSON, in the order of the columns.
        truncated: whether more rows exist.
    """

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool


def too_large(rows: int, most: int) -> TooMuchError:
    """The error of an answer with more than ``most`` bytes, found after so many rows."""
    return TooMuchError(
        f"the answer has more than {most:,} bytes after {rows:,} rows: return less of each row, or fewer rows"
    )
