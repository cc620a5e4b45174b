"""Makes elements of the graph from wire events (``memtrace.events``), one event after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memtrace import events as wire

from ingest.events import stored_units
from ingest.events.attributes import ChangedAttributes, written
from ingest.events.contradictions import (
    check_derivation,
    check_ending,
    check_operation,
    check_session,
    check_stored_unit,
    check_trace_name,
    check_variable,
)
from ingest.events.names import EventRefusedError, Known, Names
from ingest.events.values import Beginnings, Rebuilder, value_parts
from schema.constructors import constructor
from schema.kinds import DerivationKind, OperationKind, Status, VariableKind
from schema.models import (
    Batch,
    Completion,
    Derivation,
    Ending,
    Invalidation,
    Operation,
    Session,
    Trace,
    Usage,
    Variable,
)
from store.contract.answers import Label, Stored

CONSIDERED, RETURNED = "considered", "returned"
"""Roles of a retrieval's candidates: only considered, or returned."""


class Elements:
    """New elements of one trace, made from events in their order.

    Attributes:
        values: bytes of the values to store beside the graph, by hash.
    """

    def __init__(self, trace: Trace, names: Names, stored: Stored, beginnings: Beginnings) -> None:
        """Start from the stored elements.

        Args:
            trace: the stored trace, or a new one.
            names: the ids of all names in the events.
            stored: the stored elements of the trace that the events name.
            beginnings: stored values that values of the events begin with, as far as the variables have them only in
                part.
        """
        self.values: dict[str, bytes] = {}
        self._trace = trace
        self._is_new = stored.trace is None
        self._known = Known(names, stored)
        self._rebuilder = Rebuilder(self._known, self.values, beginnings)
        self._attributes = ChangedAttributes()
        self._make_variable = constructor(Variable)
        self._make_derivation = constructor(Derivation)
        self._usages: list[Usage] = []
        self._invalidations: list[Invalidation] = []
        self._endings: dict[str, Ending] = {}
        self._completions: dict[str, Completion] = {}

    def batch(self) -> Batch:
        """The elements made so far."""
        new = self._known.new
        return Batch(
            self._attributes.finished(self._trace),
            sessions=list(new[Label.SESSION].values()),
            operations=[self._attributes.finished(operation) for operation in new[Label.OPERATION].values()],
            variables=list(new[Label.VARIABLE].values()),
            derivations=list(new[Label.DERIVATION].values()),
            usages=self._usages,
            invalidations=self._invalidations,
            endings=[
                replace(ending, attributes=self._attributes.changed(id_)) for id_, ending in self._endings.items()
            ],
            completions=list(self._completions.values()),
        )

    def add(self, event: wire.Event) -> None:
        """Make the elements of an event; stored elements stay unchanged.

        Raises:
            EventRefusedError: the event can't be accepted.
        """
        match event:
            case wire.TraceEvent():
                self._traced(event)
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

    def _traced(self, event: wire.TraceEvent) -> None:
        trace = self._trace
        check_trace_name(trace.name, event.name)
        if event.attributes:
            self._attributes.of(trace).merge(event.attributes)
        if event.name is not None and trace.name is None:
            trace = replace(trace, name=event.name)
        if self._is_new and trace.created_at is not None:
            trace = replace(trace, created_at=min(trace.created_at, event.time))
        self._trace = trace

    def _session(self, event: wire.SessionEvent) -> None:
        known: Session | None = self._known.find(Label.SESSION, event.session)
        if known is not None:
            check_session(known, self._attributes.of(known), event)
            return
        self._known.add(
            Label.SESSION,
            Session(
                id=self._known.id(Label.SESSION, event.session),
                project_id=self._trace.project_id,
                trace_id=self._trace.id,
                external_id=event.session,
                name=event.name,
                category=event.category,
                comment=event.comment,
                sequence=self._known.next[Label.SESSION],
                created_at=event.time,
                attributes=written(event.attributes),
            ),
        )

    def _started(self, event: wire.OperationStarted) -> None:
        session = self._id_of(Label.SESSION, event.session, "session")
        parent = self._id_of(Label.OPERATION, event.parent, "parent")
        attributes = event.attributes if parent is None else {**event.attributes, "parentId": parent}
        known: Operation | None = self._known.find(Label.OPERATION, event.operation)
        if known is not None:
            status = self._endings.get(known.id, known).status
            check_operation(known, status, self._attributes.of(known), event, session, attributes)
            return
        self._known.add(
            Label.OPERATION,
            Operation(
                id=self._known.id(Label.OPERATION, event.operation),
                project_id=self._trace.project_id,
                trace_id=self._trace.id,
                session_id=session,
                external_id=event.operation,
                name=event.name,
                kind=OperationKind(event.kind),
                category=event.category,
                comment=event.comment,
                status=Status.RUNNING,
                sequence=self._known.next[Label.OPERATION],
                started_at=event.time,
                ended_at=None,
                location=event.location,
                attributes=written(attributes),
            ),
        )

    def _ended(self, event: wire.OperationEnded) -> None:
        operation: Operation = self._known.get(Label.OPERATION, event.operation, "operation")
        more: dict[str, Any] = dict(event.attributes or {})
        if event.error is not None:
            more["error"] = event.error.model_dump()
        known = self._endings.get(operation.id, operation)
        if known.status is not Status.RUNNING:
            check_ending(known, self._attributes.of(operation), event, more)
            return
        if more:
            self._attributes.of(operation).merge(more)
        status, new = Status(event.status), self._known.new[Label.OPERATION]
        if operation.id in new:
            new[operation.id] = replace(operation, status=status, ended_at=event.time)
        else:
            self._endings[operation.id] = Ending(operation.id, status, event.time)

    def _variable(self, event: wire.VariableEvent) -> None:
        known: Variable | None = self._known.find(Label.VARIABLE, event.variable)
        session = self._id_of(Label.SESSION, event.session, "session")
        operation = self._id_of(Label.OPERATION, event.operation, "operation")
        before = self._id_of(Label.VARIABLE, event.revision_of, "revisionOf")
        read = None if event.reads is None else self._known.get(Label.VARIABLE, event.reads, "reads")
        whole = self._rebuilder.whole(event)
        is_mention = event.stored == stored_units.MENTIONED
        stored_units.check(event)
        parts = value_parts(whole.data, whole.text)
        attributes = dict(event.attributes)
        if whole.truncated:
            attributes["truncatedFrom"] = whole.size
        if event.role is not None:
            attributes["role"] = event.role
        if is_mention:
            attributes |= stored_units.MARK
        made = self._make_variable(
            self._known.id(Label.VARIABLE, event.variable),
            self._trace.project_id,
            self._trace.id,
            None if is_mention else session,
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
            whole.media_type,
            self._known.next[Label.VARIABLE],
            None if is_mention else event.time,
            None,
            written(attributes),
            operation,
            before,
        )
        if known is not None:
            self._again(known, made, event, attributes)
            return
        if parts.data is not None:
            self.values[parts.value_hash] = parts.data
        self._known.add(Label.VARIABLE, made)

    def _again(self, known: Variable, made: Variable, event: wire.VariableEvent, attributes: Mapping[str, Any]) -> None:
        """Handle another event of a known variable: a repetition, or a stored unit's event from its reader or maker."""
        if event.stored is not None:
            check_stored_unit(known, event, made)
        if event.stored == stored_units.WRITTEN and stored_units.is_mentioned(known):
            whole = stored_units.completed(known, made)
            self._known.change(Label.VARIABLE, whole)
            if not self._known.is_new(Label.VARIABLE, known.id):
                self._completions[known.id] = stored_units.completion(whole)
        elif event.stored is None or (event.stored == stored_units.WRITTEN and known.operation_id == made.operation_id):
            check_variable(known, self._attributes.of(known), event, made, attributes)

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
        known: Derivation | None = self._known.find(Label.DERIVATION, event.derivation)
        if known is not None:
            check_derivation(known, event, source.id, target.id, operation.id)
            return
        if event.stored and target.operation_id not in {None, operation.id}:
            return  # another operation has stored the same unit before, and stays the unit's maker
        if source.sequence >= target.sequence:
            reason = "source: it came after the target, which can't depend on it: this would close a cycle"
            raise EventRefusedError(reason)
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
        """The id of the element that a field of an event names; None if the field is empty."""
        return None if name is None else self._known.get(label, name, field).id
