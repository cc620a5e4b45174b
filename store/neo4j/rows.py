"""Domain models as rows of Cypher texts, and back.

Rows are built and read for every element of every batch and closure, so the plainest forms are used: a map of
properties on the way in, a list in the order of the model's fields on the way out. Times travel as microseconds; the
driver would take 100 times as long over a time than over a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any

from schema.bulk import collector_paused
from schema.kinds import DerivationKind, ErrorType, OperationKind, Origin, Status, VariableKind
from schema.models import (
    Attribution,
    Derivation,
    Element,
    Failure,
    Operation,
    Session,
    Trace,
    Variable,
    camel_case,
)
from schema.quick import constructor
from schema.words import words
from store.answers import Label
from store.references import cited
from store.times import from_microseconds, to_microseconds

Row = dict[str, Any]


def external_key(project_id: str, external_id: str) -> int:
    """By which an external id is indexed: an index takes no text of any length, but always a number."""
    return _hash(project_id, external_id)


@lru_cache(1024)
def search_scope(text: str) -> str:
    """A project or trace as a word of the full-text index."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _hash(*parts: str) -> int:
    return int.from_bytes(blake2b("\0".join(parts).encode(), digest_size=8).digest(), "big", signed=True)


def _property_maps(model: type) -> Callable[[Any], Row]:
    names = tuple(item.name for item in fields(model))
    public = tuple(map(camel_case, names))
    values = attrgetter(*names)
    return lambda element: dict(zip(public, values(element), strict=True))


_trace_map = _property_maps(Trace)
_session_map = _property_maps(Session)
_operation_map = _property_maps(Operation)
_variable_map = _property_maps(Variable)
_derivation_map = _property_maps(Derivation)
_failure_map = _property_maps(Failure)
_attribution_map = _property_maps(Attribution)


def trace_row(trace: Trace) -> Row:
    """Properties of a trace."""
    row = _trace_map(trace)
    row["createdAt"] = to_microseconds(trace.created_at)
    return row


def session_row(session: Session) -> Row:
    """Properties of a session."""
    row = _session_map(session)
    row["createdAt"] = to_microseconds(session.created_at)
    row["externalKey"] = external_key(session.project_id, session.external_id)
    return row


def operation_row(operation: Operation) -> Row:
    """Properties of an operation."""
    row = _operation_map(operation)
    row["startedAt"] = to_microseconds(operation.started_at)
    row["endedAt"] = to_microseconds(operation.ended_at)
    row["externalKey"] = external_key(operation.project_id, operation.external_id)
    return row


def variable_row(variable: Variable) -> Row:
    """Properties of a variable; a recorded one also has the words by which it is searched."""
    row = _variable_map(variable)
    row["createdAt"] = to_microseconds(variable.created_at)
    row["externalKey"] = external_key(variable.project_id, variable.external_id)
    row["nameKey"] = _hash(variable.trace_id, variable.class_name or "", variable.name)
    if variable.occurrence == 0:
        row["terms"] = " ".join(words(f"{variable.name} {variable.comment or ''} {variable.preview}"))
        row["scope"] = f"{search_scope(variable.project_id)} {search_scope(variable.trace_id)}"
    return row


def derivation_row(derivation: Derivation) -> Row:
    """The ends of a derivation, and its properties."""
    properties = _derivation_map(derivation)
    if derivation.external_id is not None:
        properties["externalKey"] = external_key(derivation.project_id, derivation.external_id)
    return {
        "source": properties.pop("source"),
        "target": properties.pop("target"),
        "createdAt": to_microseconds(properties.pop("createdAt")),
        "properties": properties,
    }


def failure_row(failure: Failure) -> Row:
    """Properties of a failure."""
    row = _failure_map(failure)
    row["createdAt"] = to_microseconds(failure.created_at)
    return row


def attribution_row(attribution: Attribution) -> Row:
    """Properties of an attribution, and the variables that its evidence cites."""
    properties = _attribution_map(attribution)
    created_at = to_microseconds(properties.pop("createdAt"))
    return {"cites": cited(attribution), "createdAt": created_at, "properties": properties}


_VARIABLE_KINDS = {kind.value: kind for kind in VariableKind}
_OPERATION_KINDS = {kind.value: kind for kind in OperationKind}
_DERIVATION_KINDS = {kind.value: kind for kind in DerivationKind}
_STATUSES = {status.value: status for status in Status}


def _trace(row: list[Any]) -> Trace:
    row[5] = from_microseconds(row[5])
    return Trace(*row)


def _session(row: list[Any]) -> Session:
    row[8] = from_microseconds(row[8])
    return Session(*row)


def _operation(row: list[Any]) -> Operation:
    row[6] = _OPERATION_KINDS[row[6]]
    row[9] = _STATUSES[row[9]]
    row[11] = from_microseconds(row[11])
    row[12] = from_microseconds(row[12])
    return constructor(Operation)(*row)


def _variable(row: list[Any]) -> Variable:
    row[9] = _VARIABLE_KINDS[row[9]]
    row[18] = from_microseconds(row[18])
    return constructor(Variable)(*row)


def _derivation(row: list[Any]) -> Derivation:
    row[7] = _DERIVATION_KINDS[row[7]]
    row[11] = from_microseconds(row[11])
    return constructor(Derivation)(*row)


def _failure(row: list[Any]) -> Failure:
    row[3] = Origin(row[3])
    row[7] = tuple(row[7])
    row[10] = tuple(row[10])
    row[11] = from_microseconds(row[11])
    return Failure(*row)


def _attribution(row: list[Any]) -> Attribution:
    row[4] = None if row[4] is None else ErrorType(row[4])
    row[15] = from_microseconds(row[15])
    return Attribution(*row)


_READERS: dict[Label, Callable[[list[Any]], Any]] = {
    Label.TRACE: _trace,
    Label.SESSION: _session,
    Label.OPERATION: _operation,
    Label.VARIABLE: _variable,
    Label.DERIVATION: _derivation,
    Label.FAILURE: _failure,
    Label.ATTRIBUTION: _attribution,
}


def read_rows(label: Label, rows: Iterable[list[Any]]) -> list[Any]:
    """Elements out of rows, whose columns stand in the order of the model's fields."""
    with collector_paused():
        return list(map(_READERS[label], rows))


WRITERS: dict[Label, Callable[[Any], Row]] = {
    Label.TRACE: trace_row,
    Label.SESSION: session_row,
    Label.OPERATION: operation_row,
    Label.VARIABLE: variable_row,
    Label.DERIVATION: derivation_row,
    Label.FAILURE: failure_row,
    Label.ATTRIBUTION: attribution_row,
}
"""How an element becomes a row, by label."""


def element_id(element: Element) -> str:
    """The id; rows of one label are written in its order, so that two writers lock in the same order."""
    return element.id
