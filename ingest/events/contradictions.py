"""Checks whether an event about a stored element agrees with the element.

An event that is sent again changes nothing. An event that contradicts the stored element is refused, and the reason
names the field; otherwise the event's contents would be lost silently. Only stored fields that no later event may
change are compared. Programs that continue a trace or session send the trace's or session's event again, so these
events may leave fields out and may have another time.

Each function compares the stored state with an event (``said``), and raises an ``EventRefusedError`` if they contradict
each other. ``attributes`` are the stored attributes with later additions; ``made`` is the variable that the event would
make; ``more`` are the event's attributes, with further data that the graph stores as attributes (parent operation,
error, role, original size).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memtrace import events as wire

from ingest.events.attributes import Attributes
from ingest.events.names import EventRefusedError
from schema.kinds import Status
from schema.models import Derivation, Ending, Operation, Session, Variable
from store.contract.answers import Label

_Pair = tuple[str, Any, Any]
"""The name of a field, its stored value, and the event's value."""


def check_trace_name(known: str | None, said: str | None) -> None:
    """Compare the name of a trace with an event."""
    if known is not None and said is not None and known != said:
        raise EventRefusedError("name: the trace is known by another name already")


def check_session(known: Session, attributes: Attributes, said: wire.SessionEvent) -> None:
    """Compare a session and its attributes with an event."""
    pairs = (
        ("name", known.name, said.name),
        ("category", known.category, said.category),
        ("comment", known.comment, said.comment),
    )
    _compare(Label.SESSION, said.session, [pair for pair in pairs if pair[2] is not None])
    _compare_attributes(Label.SESSION, said.session, attributes, said.attributes, is_all=False)


def check_operation(
    known: Operation,
    status: str,
    attributes: Attributes,
    said: wire.OperationStarted,
    session_id: str | None,
    more: Mapping[str, Any],
) -> None:
    """Compare an operation with the event of its beginning."""
    _compare(
        Label.OPERATION,
        said.operation,
        (
            ("name", known.name, said.name),
            ("kind", known.kind, said.kind),
            ("session", known.session_id, session_id),
            ("category", known.category, said.category),
            ("comment", known.comment, said.comment),
            ("location", known.location, said.location),
            ("time", known.started_at, said.time),
        ),
    )
    is_running = status == Status.RUNNING
    _compare_attributes(Label.OPERATION, said.operation, attributes, more, is_all=is_running, may_differ=not is_running)


def check_ending(
    known: Operation | Ending, attributes: Attributes, said: wire.OperationEnded, more: Mapping[str, Any]
) -> None:
    """Compare the end of an operation with an event."""
    pairs = (("status", known.status, said.status), ("time", known.ended_at, said.time))
    _compare(Label.OPERATION, said.operation, pairs)
    _compare_attributes(Label.OPERATION, said.operation, attributes, more, is_all=False)


def check_variable(
    known: Variable, attributes: Attributes, said: wire.VariableEvent, made: Variable, more: Mapping[str, Any]
) -> None:
    """Compare a variable with an event."""
    _compare(
        Label.VARIABLE,
        said.variable,
        (
            *_what_it_is(known, made),
            ("version", known.version, made.version),
            ("operation", known.operation_id, made.operation_id),
            ("revisionOf", known.revision_of, made.revision_of),
            ("session", known.session_id, made.session_id),
            ("category", known.category, made.category),
            ("time", known.created_at, made.created_at),
        ),
    )
    _compare_attributes(Label.VARIABLE, said.variable, attributes, more, is_all=True)


def check_stored_unit(known: Variable, said: wire.VariableEvent, made: Variable) -> None:
    """Compare the fields on which readers and makers of a stored unit must agree."""
    _compare(Label.VARIABLE, said.variable, _what_it_is(known, made))


def _what_it_is(known: Variable, made: Variable) -> tuple[_Pair, ...]:
    """The fields that are the same in the event of a unit's maker and in the events of its readers."""
    return (
        ("value", known.value_hash, made.value_hash),
        ("mediaType", known.media_type, made.media_type),
        ("name", known.name, made.name),
        ("kind", known.kind, made.kind),
        ("className", known.class_name, made.class_name),
        ("reads", known.external_id, made.external_id),
        ("occurrence", known.occurrence, made.occurrence),
        ("comment", known.comment, made.comment),
    )


def check_derivation(known: Derivation, said: wire.Derived, source: str, target: str, operation: str) -> None:
    """Compare a derivation with an event and with the ids of the event's source, target and operation."""
    _compare(
        Label.DERIVATION,
        said.derivation,
        (
            ("source", known.source, source),
            ("target", known.target, target),
            ("operation", known.operation_id, operation),
            ("kind", known.kind, said.kind),
            ("comment", known.comment, said.comment),
            ("time", known.created_at, said.time),
        ),
    )


def _compare(label: Label, name: str, pairs: Iterable[_Pair]) -> None:
    for field, known, said in pairs:
        if known != said:
            raise _contradiction(label, name, field)


def _compare_attributes(
    label: Label, name: str, known: Attributes, said: Mapping[str, Any], *, is_all: bool, may_differ: bool = False
) -> None:
    key = known.differing(said, is_all=is_all, may_differ=may_differ)
    if key is not None:
        raise _contradiction(label, name, f"attributes.{key}")


def _contradiction(label: Label, name: str, field: str) -> EventRefusedError:
    return EventRefusedError(f"{field}: contradicts what is known of {label.lower()} {name!r}")
