"""Elements of the graph out of wire events (``memtrace.events``), one event after the other."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec
from memtrace import events as wire

from ingest.known import EventRefusedError, Known
from ingest.names import Names
from ingest.values import rebuilt, value_parts
from schema.errors import CorruptValueError
from schema.kinds import DerivationKind, OperationKind, Status, VariableKind
from schema.models import (
    Batch,
    Derivation,
    Ending,
    Invalidation,
    Operation,
    Session,
    Trace,
    Usage,
    Variable,
)
from schema.quick import constructor
from store.answers import Label, Stored
from store.protocol import GraphStore

CONSIDERED, RETURNED = "considered", "returned"
"""Roles of what a retrieval had before it."""


class Elements:
    """New elements of one trace, made of events in their order.

    Attributes:
        values: values that are kept beside the graph, by hash.
    """

    def __init__(self, store: GraphStore, trace: Trace, names: Names, stored: Stored) -> None:
        """Begin.

        Args:
            store: the project's graph, for values.
            trace: the trace as it is stored, or a new one.
            names: the ids of what events name.
            stored: what is stored of the trace, and of all that the events name.
        """
        self.values: dict[str, bytes] = {}
        self._store = store
        self._trace = trace
        self._is_new = stored.trace is None
        self._known = Known(names, stored)
        self._make_variable = constructor(Variable)
        self._make_derivation = constructor(Derivation)
        self._usages: list[Usage] = []
        self._invalidations: list[Invalidation] = []
        self._endings: dict[str, Ending] = {}

    def batch(self) -> Batch:
        """All that was made so far."""
        new = self._known.new
        return Batch(
            self._trace,
            sessions=list(new[Label.SESSION].values()),
            operations=list(new[Label.OPERATION].values()),
            variables=list(new[Label.VARIABLE].values()),
            derivations=list(new[Label.DERIVATION].values()),
            usages=self._usages,
            invalidations=self._invalidations,
            endings=list(self._endings.values()),
        )

    async def whole(self, event: wire.VariableEvent, base: wire.Base) -> wire.VariableEvent:
        """The event with its whole value, whose beginning is another variable's.

        Raises:
            EventRefusedError: that is not there, or does not fit.
        """
        if self._known.find(Label.VARIABLE, event.variable) is not None:
            return event  # sent again
        before: Variable = self._known.get(Label.VARIABLE, base.variable, "base")
        if before.value is not None:
            beginning = before.value
        else:
            try:
                data = self.values.get(before.value_hash) or await self._store.value(before)
            except CorruptValueError as error:
                raise EventRefusedError(f"base: {error}") from None
            beginning = data.decode("utf-8", "surrogatepass")
        try:
            return rebuilt(event, base, beginning, "truncatedFrom" in msgspec.json.decode(before.attributes))
        except ValueError as error:
            raise EventRefusedError(str(error)) from None

    def add(self, event: wire.Event) -> None:
        """Make what an event says; what is known stays as it is.

        Raises:
            EventRefusedError: it can't be taken.
        """
        match event:
            case wire.TraceEvent():
                self._trace = _said_of(self._trace, event, self._is_new)
            case wire.SessionEvent():
                self._session(event)
            case wire.OperationStarted():
                self._started(event)
            case wire.OperationEnded():
                self._ended(event)
            case wire.VariableEvent():
                self._variable(event)
            case wire.Used():
                self._use(event.operation, event.variable, event.role, event.position)
            case wire.Considered():
                self._known.get(Label.VARIABLE, event.query, "query")
                role = RETURNED if event.returned else CONSIDERED
                self._use(event.operation, event.variable, role, event.rank, event.score)
            case wire.Derived():
                self._derived(event)
            case wire.Invalidated():
                operation = self._known.get(Label.OPERATION, event.operation, "operation")
                self._invalidations.append(
                    Invalidation(self._known.get(Label.VARIABLE, event.variable, "variable").id, operation.id)
                )
            case _:
                raise EventRefusedError(f"type: {event.type!r} is not known here")

    def _session(self, event: wire.SessionEvent) -> None:
        if self._known.find(Label.SESSION, event.session) is not None:
            return
        self._known.add(
            Label.SESSION,
            Session(
                self._known.id(Label.SESSION, event.session),
                self._trace.project_id,
                self._trace.id,
                event.session,
                event.name,
                event.category,
                event.comment,
                self._known.next[Label.SESSION],
                event.time,
                _text(event.attributes),
            ),
        )

    def _started(self, event: wire.OperationStarted) -> None:
        session = self._id_of(Label.SESSION, event.session, "session")
        parent = self._id_of(Label.OPERATION, event.parent, "parent")
        if self._known.find(Label.OPERATION, event.operation) is not None:
            return
        attributes = event.attributes if parent is None else {**event.attributes, "parentId": parent}
        self._known.add(
            Label.OPERATION,
            Operation(
                self._known.id(Label.OPERATION, event.operation),
                self._trace.project_id,
                self._trace.id,
                session,
                event.operation,
                event.name,
                OperationKind(event.kind),
                event.category,
                event.comment,
                Status.RUNNING,
                self._known.next[Label.OPERATION],
                event.time,
                None,
                event.location,
                _text(attributes),
            ),
        )

    def _ended(self, event: wire.OperationEnded) -> None:
        operation: Operation = self._known.get(Label.OPERATION, event.operation, "operation")
        more: dict[str, Any] = dict(event.attributes or {})
        if event.error is not None:
            more["error"] = event.error.model_dump()
        attributes = _text(msgspec.json.decode(operation.attributes) | more) if more else operation.attributes
        new = self._known.new[Label.OPERATION]
        if operation.id not in new:
            self._endings.setdefault(operation.id, Ending(operation.id, Status(event.status), event.time, attributes))
        elif operation.status is Status.RUNNING:
            ended = replace(operation, status=Status(event.status), ended_at=event.time, attributes=attributes)
            new[operation.id] = ended

    def _variable(self, event: wire.VariableEvent) -> None:
        if self._known.find(Label.VARIABLE, event.variable) is not None:
            return
        session = self._id_of(Label.SESSION, event.session, "session")
        operation = self._id_of(Label.OPERATION, event.operation, "operation")
        before = self._id_of(Label.VARIABLE, event.revision_of, "revisionOf")
        read = None if event.reads is None else self._known.get(Label.VARIABLE, event.reads, "reads")
        parts = value_parts(event.value)
        if parts.data is not None:
            self.values[parts.value_hash] = parts.data
        attributes = dict(event.attributes)
        if event.truncated:
            attributes["truncatedFrom"] = event.size
        if event.role is not None:
            attributes["role"] = event.role
        self._known.add(
            Label.VARIABLE,
            self._make_variable(
                self._known.id(Label.VARIABLE, event.variable),
                self._trace.project_id,
                self._trace.id,
                session,
                event.variable if read is None else read.external_id,
                event.name,
                event.class_name,
                event.version,
                0 if read is None else event.occurrence or 1,
                VariableKind(event.kind),
                event.category,
                event.comment,
                parts.preview,
                parts.whole,
                parts.value_hash,
                parts.size,
                event.media_type,
                self._known.next[Label.VARIABLE],
                event.time,
                None,
                _text(attributes),
                operation,
                before,
            ),
        )

    def _use(self, operation: str, variable: str, role: str | None, position: int, score: float | None = None) -> None:
        used: Variable = self._known.get(Label.VARIABLE, variable, "variable")
        user: Operation = self._known.get(Label.OPERATION, operation, "operation")
        if used.operation_id == user.id:
            raise EventRefusedError("variable: an operation does not use what it made itself")
        self._usages.append(Usage(user.id, used.id, role, position, score))

    def _derived(self, event: wire.Derived) -> None:
        source: Variable = self._known.get(Label.VARIABLE, event.source, "source")
        target: Variable = self._known.get(Label.VARIABLE, event.target, "target")
        operation = self._known.get(Label.OPERATION, event.operation, "operation")
        if source.sequence >= target.sequence:
            reason = "source: it came after the target, which can't depend on it: this would close a cycle"
            raise EventRefusedError(reason)
        if self._known.find(Label.DERIVATION, event.derivation) is not None:
            return
        self._known.add(
            Label.DERIVATION,
            self._make_derivation(
                self._known.id(Label.DERIVATION, event.derivation),
                self._trace.project_id,
                self._trace.id,
                source.id,
                target.id,
                operation.id,
                event.derivation,
                DerivationKind(event.kind),
                None,
                event.comment,
                self._known.next[Label.DERIVATION],
                event.time,
                None,
            ),
        )

    def _id_of(self, label: Label, name: str | None, field: str) -> str | None:
        """The id of what a field of an event refers to, if it says anything."""
        return None if name is None else self._known.get(label, name, field).id


def _said_of(trace: Trace, event: wire.TraceEvent, is_new: bool) -> Trace:
    """A trace with what an event says of it; the name of one that is stored stays."""
    attributes = msgspec.json.decode(trace.attributes) | dict(event.attributes)
    name = (event.name or trace.name) if is_new else trace.name
    created_at: datetime | None = min(trace.created_at, event.time) if is_new and trace.created_at else trace.created_at
    return replace(trace, name=name, created_at=created_at, attributes=_text(attributes))


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
