"""Converts domain models to rows of Cypher texts, and back, as ``store.shared.columns`` declares.

Rows are built and read for every element of every batch and closure, so the forms are plain: a map of properties to
write an element, a list in the order of the model's fields to read an element. Times are sent as microseconds; the
driver takes 100 times as long for a time as for a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any

import neo4j.time

from schema.control import AuditEntry
from schema.damage import reading_stored
from schema.models import Attribution, Completion, Derivation, Element, Operation, Session, Variable, camel_case
from schema.times import Times, to_microseconds
from schema.words import words
from store.contract.answers import Label
from store.runtime.garbage_collector import collector_paused
from store.shared.columns import DECLARED, Codec, Column
from store.shared.record_rows import AUDIT_ENTRIES, Form, R
from store.shared.references import cited, losses

Row = dict[str, Any]


def external_key(project_id: str, external_id: str) -> int:
    """The hash by which an external id is indexed, because an index can't take texts of any length."""
    return _hash(project_id, external_id)


@lru_cache(1024)
def search_scope(text: str) -> str:
    """A project or trace as a word of the full-text index."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _hash(*parts: str) -> int:
    return int.from_bytes(blake2b("\0".join(parts).encode(), digest_size=8).digest(), "big", signed=True)


_LOST = ("operationId", "position", "piece", "errorType", "confidence")
"""The fields of a loss that a relationship ``LOST`` holds."""

_NAMES = {label: tuple(column.public_name for column in declared.columns) for label, declared in DECLARED.items()}
_VALUES = {label: attrgetter(*(column.name for column in declared.columns)) for label, declared in DECLARED.items()}
_TIMES = {label: [one.public_name for one in declared.of_codec(Codec.TIME)] for label, declared in DECLARED.items()}


def rows_of(label: Label, elements: Sequence[Any]) -> list[Row]:
    """The rows for the text that writes elements of a label: the properties, and further parameters of the text."""
    names = _NAMES[label]
    rows: list[Row] = [dict(zip(names, values, strict=True)) for values in map(_VALUES[label], elements)]
    for name in _TIMES[label]:
        for row in rows:
            row[name] = to_microseconds(row[name])
    finished = _FINISHED.get(label)
    return rows if finished is None else list(map(finished, elements, rows))


def completion_row(completion: Completion, trace_id: str) -> Row:
    """The row for the text ``write_completion``."""
    names = ("session_id", "version", "category", "location", "attributes", "operation_id", "revision_of")
    return {
        "variableId": completion.variable_id,
        "traceId": trace_id,
        "operationId": completion.operation_id,
        "createdAt": to_microseconds(completion.created_at),
        "properties": {camel_case(name): getattr(completion, name) for name in names},
    }


def _with_key(element: Session | Operation, row: Row) -> Row:
    row["externalKey"] = external_key(element.project_id, element.external_id)
    return row


def _variable(variable: Variable, row: Row) -> Row:
    """The row of a variable; a recorded variable also gets its words for full-text search."""
    row["externalKey"] = external_key(variable.project_id, variable.external_id)
    row["nameKey"] = _hash(variable.trace_id, variable.class_name or "", variable.name)
    if variable.occurrence == 0:
        row["terms"] = " ".join(words(f"{variable.name} {variable.comment or ''} {variable.preview}"))
        row["scope"] = f"{search_scope(variable.project_id)} {search_scope(variable.trace_id)}"
    return row


def _derivation(derivation: Derivation, row: Row) -> Row:
    """The row of a derivation: its ends stand beside the properties."""
    if derivation.external_id is not None:
        row["externalKey"] = external_key(derivation.project_id, derivation.external_id)
    beside = {name: row.pop(name) for name in ("source", "target", "createdAt")}
    return beside | {"properties": row}


def _attribution(attribution: Attribution, row: Row) -> Row:
    """The row of an attribution: cited variables and losses stand beside the properties."""
    lost = [{name: one.get(name) for name in _LOST} for one in losses(attribution)]
    return {"cites": cited(attribution), "lost": lost, "createdAt": row.pop("createdAt"), "properties": row}


_FINISHED: Mapping[Label, Callable[[Any, Row], Row]] = {
    Label.SESSION: _with_key,
    Label.OPERATION: _with_key,
    Label.VARIABLE: _variable,
    Label.DERIVATION: _derivation,
    Label.ATTRIBUTION: _attribution,
}
"""Functions from properties to rows, for labels whose texts take more than the properties."""


def read_rows(label: Label, rows: Iterable[Sequence[Any]]) -> list[Any]:
    """Elements from rows with values in the order of the model's fields."""
    with collector_paused():
        found = list(rows)
        if not found:
            return []
        declared, times = DECLARED[label], Times()
        with reading_stored(f"rows of {label.value}"):
            columns = zip(declared.columns, zip(*found, strict=True), strict=True)
            return list(declared.make([_decoded(column, values, times) for column, values in columns]))


def _decoded(column: Column, values: Sequence[Any], times: Times) -> Iterable[Any]:
    """The values of a field in the model."""
    match column.codec:
        case Codec.WORD:
            return map(column.word_of.__getitem__, values)
        case Codec.TIME:
            return map(times.__getitem__, values)
        case Codec.LIST:
            return map(tuple, values)
    return values


def element_id(element: Element) -> str:
    """The id. Rows of one label are written in the order of ids, so that all writers lock nodes in the same order."""
    return element.id


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
