"""The SQL texts, and the closed list of tables and columns that fill their templates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from store.contract.answers import Direction
from store.shared.columns import DECLARED, Codec, Column, Declaration
from store.shared.record_rows import (
    API_KEYS,
    ASSIGNMENTS,
    AUDIT_ENTRIES,
    JOBS,
    QUEUES,
    RETENTION_POLICIES,
    VERDICT_CHANGES,
)
from store.shared.texts import Fillings, texts_of


class Table(StrEnum):
    """The tables without elements."""

    TEXT = "text"
    PACK = "pack"
    VALUE = "value"
    WORDS = "variable_words"
    USAGE = "usage"
    INVALIDATION = "invalidation"
    MIGRATION = "migration"
    API_KEY = "api_key"
    JOB = "job"
    AUDIT_ENTRY = "audit_entry"
    RETENTION_POLICY = "retention_policy"
    CHANGE = "verdict_change"
    QUEUE = "annotation_queue"
    ASSIGNMENT = "assignment"


_COLUMNS: Mapping[Table, tuple[str, ...]] = {
    Table.TEXT: ("k", "trace_k", "hash", "text"),
    Table.PACK: ("k", "id", "trace_k", "raw_size", "data"),
    Table.VALUE: ("k", "trace_k", "hash", "size", "media_type", "text", "pack_k", "pack_offset"),
    Table.WORDS: ("rowid", "words"),
    Table.USAGE: ("operation_k", "position", "variable_k", "role", "score"),
    Table.INVALIDATION: ("variable_k", "operation_k"),
    Table.MIGRATION: ("number", "name", "applied_at"),
    Table.API_KEY: API_KEYS.columns,
    Table.JOB: JOBS.columns,
    Table.AUDIT_ENTRY: AUDIT_ENTRIES.columns,
    Table.RETENTION_POLICY: RETENTION_POLICIES.columns,
    Table.CHANGE: VERDICT_CHANGES.columns,
    Table.QUEUE: QUEUES.columns,
    Table.ASSIGNMENT: ASSIGNMENTS.columns,
}
"""The columns of each table, in the order of the rows to insert."""

_TIMES = {
    Table.API_KEY: API_KEYS.time,
    Table.JOB: JOBS.time,
    Table.AUDIT_ENTRY: AUDIT_ENTRIES.time,
    Table.QUEUE: QUEUES.time,
}


def written_columns(declared: Declaration) -> tuple[str, ...]:
    """The columns of an element's table, in the order of the rows to insert; ``value_k`` is the key of the value."""
    own = [column.sql for column in declared.columns if column.sql and column.codec is not Codec.VALUE]
    return ("k", *own, "value_k") if declared.of_codec(Codec.VALUE) else ("k", *own)


def read_columns(declared: Declaration) -> tuple[str, ...]:
    """The columns to select for an element: of its table ``x``, and of the table ``value`` if it has a value."""
    kept = [column for column in declared.columns if column.codec is not Codec.PROJECT]
    return tuple(dict.fromkeys(["x.k", *(_place(column) for column in kept)]))


def _place(column: Column) -> str:
    return f"{'value' if column.codec is Codec.VALUE else 'x'}.{column.sql}"


def _filling(table: str, columns: Iterable[str]) -> dict[str, str]:
    names = list(columns)
    return {"table": table, "columns": ", ".join(names), "marks": ", ".join("?" * len(names))}


def _fillings() -> Iterator[tuple[StrEnum, Mapping[str, str]]]:
    for label, declared in DECLARED.items():
        names = {"read": ", ".join(read_columns(declared)), "kind": "x.kind" if declared.has_kinds else "NULL"}
        yield label, _filling(label.lower(), written_columns(declared)) | names
    for table, columns in _COLUMNS.items():
        times = {"time": _TIMES[table]} if table in _TIMES else {}
        yield table, _filling(table, columns) | times
    yield Direction.BACKWARD, {"here": "target_k", "there": "source_k"}
    yield Direction.FORWARD, {"here": "source_k", "there": "target_k"}


FILLINGS: Fillings = dict(_fillings())
"""The texts of placeholders, by the subject of a template: a label, another table, or the direction of a walk."""


sql = texts_of(__name__, ".sql", FILLINGS)
