"""From wire events (``memtrace.events``) to elements of the graph.

Events of a trace are taken in their order: what an event refers to came before it, in the same call or in an earlier
one. Ids are made of the sender's ids, so that an event that is sent twice changes nothing. A bad event never keeps its
neighbours out.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import starmap
from typing import Any, TypeVar

import msgspec
from memtrace import events as wire

from ingest.values import portions, rebuilt, value_parts
from schema.errors import ConflictError, CorruptValueError, InputError
from schema.ids import IdMaker, trace_id
from schema.kinds import DerivationKind, OperationKind, Status, VariableKind
from schema.models import (
    NO_ATTRIBUTES,
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
from store.answers import IN_ORDER, Label
from store.packs import PackWriter
from store.protocol import GraphStore

SOURCE = "memtrace"
CONSIDERED, RETURNED = "considered", "returned"
"""Roles of what a retrieval had before it."""

_EVENTS_A_BREATH = 200
"""So many events are built in one go: a server that writes itself answers others in between."""

_NAMED: dict[type[wire.Event], tuple[tuple[Label, str], ...]] = {
    wire.TraceEvent: (),
    wire.SessionEvent: ((Label.SESSION, "session"),),
    wire.OperationStarted: ((Label.OPERATION, "operation"), (Label.SESSION, "session"), (Label.OPERATION, "parent")),
    wire.OperationEnded: ((Label.OPERATION, "operation"),),
    wire.VariableEvent: (
        (Label.VARIABLE, "variable"),
        (Label.SESSION, "session"),
        (Label.OPERATION, "operation"),
        (Label.VARIABLE, "revision_of"),
        (Label.VARIABLE, "reads"),
    ),
    wire.Used: ((Label.OPERATION, "operation"), (Label.VARIABLE, "variable")),
    wire.Considered: ((Label.OPERATION, "operation"), (Label.VARIABLE, "query"), (Label.VARIABLE, "variable")),
    wire.Derived: (
        (Label.DERIVATION, "derivation"),
        (Label.VARIABLE, "source"),
        (Label.VARIABLE, "target"),
        (Label.OPERATION, "operation"),
    ),
    wire.Invalidated: ((Label.VARIABLE, "variable"), (Label.OPERATION, "operation")),
}
"""What events name, themselves too: where it is found is not asked of each event anew, for that takes longer than all
else about it."""

E = TypeVar("E", Session, Operation, Variable, Derivation)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an event is not in the graph.

    Attributes:
        index: its place among those that were sent.
        reason: what is wrong, and where.
        is_early: whether it refers to something that is not there yet: it may be taken when that has come.
    """

    index: int
    reason: str
    is_early: bool = False


class _EventError(Exception):
    """An event that can't be taken."""

    def __init__(self, reason: str, is_early: bool = False) -> None:
        self.is_early = is_early
        super().__init__(reason)


async def take_events(store: GraphStore, events: Sequence[wire.Event]) -> list[Refusal]:
    """Write events to a project's graph; those that are refused, in order. The others are there when this returns."""
    by_trace: dict[str, list[int]] = defaultdict(list)
    for index, event in enumerate(events):
        by_trace[event.trace].append(index)
    refused: list[Refusal] = []
    for external_id, indexes in by_trace.items():
        for portion in portions([(index, events[index]) for index in indexes]):
            refused += await _take(store, external_id, portion)
    return sorted(refused, key=lambda refusal: refusal.index)


async def _take(store: GraphStore, external_id: str, events: Sequence[tuple[int, wire.Event]]) -> list[Refusal]:
    """Write events of one trace; where the store refuses them together, the halves apart."""
    builder = _Builder(store, external_id)
    try:
        return await builder.take(events)
    except (ConflictError, InputError) as error:
        reason = str(error)
    except UnicodeEncodeError:
        reason = "text that is not valid Unicode can't be stored"
    if len(events) == 1:
        return [Refusal(events[0][0], reason)]
    middle = len(events) // 2
    return await _take(store, external_id, events[:middle]) + await _take(store, external_id, events[middle:])


@dataclass(slots=True)
class _Known:
    """What is stored, and what the batch adds, by label and id."""

    stored: dict[Label, dict[str, Any]] = field(default_factory=lambda: {label: {} for label in IN_ORDER})
    new: dict[Label, dict[str, Any]] = field(default_factory=lambda: {label: {} for label in IN_ORDER})

    def find(self, label: Label, id_: str) -> Any:
        """The element with an id; None where there is none."""
        return self.new[label].get(id_) or self.stored[label].get(id_)


class _Builder:
    """Makes a batch of the events of one trace."""

    def __init__(self, store: GraphStore, external_id: str) -> None:
        self.store = store
        self.external_id = external_id
        self.trace_id = trace_id(store.project_id, external_id)
        self.known = _Known()
        self.ids: dict[Label, dict[str, str]] = {label: {} for label in IN_ORDER}
        self.makers = {label: IdMaker(label.value, self.trace_id) for label in IN_ORDER}
        self.next: dict[Label, int] = {}
        self.usages: list[Usage] = []
        self.invalidations: list[Invalidation] = []
        self.endings: dict[str, Ending] = {}
        self.values: dict[str, bytes] = {}

    async def take(self, events: Sequence[tuple[int, wire.Event]]) -> list[Refusal]:
        """Build the batch and write it."""
        found, self.next = await asyncio.gather(
            self.store.get(Label.TRACE, [self.trace_id]), self.store.next_sequences(self.trace_id)
        )
        await self._look_up([event for _, event in events])
        stored = found[0] if found and isinstance(found[0], Trace) else None
        refused = []
        trace = stored or Trace(
            self.trace_id, self.store.project_id, self.external_id, None, SOURCE, events[0][1].time, NO_ATTRIBUTES
        )
        for place, (index, event) in enumerate(events, 1):
            if place % _EVENTS_A_BREATH == 0:
                await asyncio.sleep(0)
            try:
                if isinstance(event, wire.TraceEvent):
                    trace = _said_of(trace, event, stored is None)
                elif isinstance(event, wire.VariableEvent) and event.base is not None:
                    self._add(await self._whole(event, event.base))
                else:
                    self._add(event)
            except _EventError as error:
                refused.append(Refusal(index, str(error), error.is_early))
        if len(refused) < len(events):
            await self._write(trace)
        return refused

    async def _write(self, trace: Trace) -> None:
        new = self.known.new
        batch = Batch(
            trace,
            sessions=list(new[Label.SESSION].values()),
            operations=list(new[Label.OPERATION].values()),
            variables=list(new[Label.VARIABLE].values()),
            derivations=list(new[Label.DERIVATION].values()),
            usages=self.usages,
            invalidations=self.invalidations,
            endings=list(self.endings.values()),
        )
        if not self.values:
            await self.store.write(batch)
            return
        with PackWriter(await self.store.known_values(self.trace_id)) as values:
            for value_hash, data in self.values.items():
                values.add(value_hash, data)
            await self.store.write(batch, values)

    async def _look_up(self, events: Sequence[wire.Event]) -> None:
        """Read what the events name, as far as it is stored."""
        for event in events:
            for label, key in _NAMED.get(type(event), ()):
                name = getattr(event, key)
                if name is not None:
                    self._id(label, name)
            if isinstance(event, wire.VariableEvent) and event.base is not None:
                self._id(Label.VARIABLE, event.base.variable)
        # Where the first place is free, nothing is stored: most of all in a new trace.
        wanted = [(label, list(ids.values())) for label, ids in self.ids.items() if ids and self.next[label]]
        await asyncio.gather(*starmap(self._read, wanted))

    async def _read(self, label: Label, ids: list[str]) -> None:
        self.known.stored[label] = {element.id: element for element in await self.store.get(label, ids)}

    def _id(self, label: Label, name: str) -> str:
        ids = self.ids[label]
        id_ = ids.get(name)
        if id_ is None:
            id_ = ids[name] = self.makers[label](name)
        return id_

    def _get(self, label: Label, name: str, field_name: str) -> Any:
        """What an event refers to.

        Raises:
            _EventError: it is not there, or not yet.
        """
        found = self.known.find(label, self._id(label, name))
        if found is None:
            raise _EventError(f"{field_name}: there is no {label.value.lower()} {name!r} in this trace", is_early=True)
        return found

    def _keep(self, label: Label, make: Any, id_: str) -> None:
        """Keep a new element with the next place; one that is known stays as it is."""
        if self.known.find(label, id_) is None:
            self.known.new[label][id_] = make(self.next[label])
            self.next[label] += 1

    async def _whole(self, event: wire.VariableEvent, base: wire.Base) -> wire.VariableEvent:
        """The event with its whole value, whose beginning is another variable's."""
        if self.known.find(Label.VARIABLE, self._id(Label.VARIABLE, event.variable)) is not None:
            return event  # sent again
        before: Variable = self._get(Label.VARIABLE, base.variable, "base")
        if before.value is not None:
            beginning = before.value
        else:
            try:
                data = self.values.get(before.value_hash) or await self.store.value(before)
            except CorruptValueError as error:
                raise _EventError(f"base: {error}") from None
            beginning = data.decode("utf-8", "surrogatepass")
        try:
            return rebuilt(event, base, beginning, "truncatedFrom" in msgspec.json.decode(before.attributes))
        except ValueError as error:
            raise _EventError(str(error)) from None

    def _add(self, event: wire.Event) -> None:
        match event:
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
                self._get(Label.VARIABLE, event.query, "query")
                self._use(event.operation, event.variable, RETURNED if event.returned else CONSIDERED, event.rank)
            case wire.Derived():
                self._derived(event)
            case wire.Invalidated():
                operation = self._get(Label.OPERATION, event.operation, "operation")
                self.invalidations.append(
                    Invalidation(self._get(Label.VARIABLE, event.variable, "variable").id, operation.id)
                )
            case _:
                raise _EventError(f"type: {event.type!r} is not known here")

    def _session(self, event: wire.SessionEvent) -> None:
        id_ = self._id(Label.SESSION, event.session)
        self._keep(
            Label.SESSION,
            lambda sequence: Session(
                id_,
                self.store.project_id,
                self.trace_id,
                event.session,
                event.name,
                event.category,
                event.comment,
                sequence,
                event.time,
                _text(event.attributes),
            ),
            id_,
        )

    def _started(self, event: wire.OperationStarted) -> None:
        id_ = self._id(Label.OPERATION, event.operation)
        session = None if event.session is None else self._get(Label.SESSION, event.session, "session").id
        attributes = dict(event.attributes)
        if event.parent is not None:
            attributes["parentId"] = self._get(Label.OPERATION, event.parent, "parent").id
        self._keep(
            Label.OPERATION,
            lambda sequence: Operation(
                id_,
                self.store.project_id,
                self.trace_id,
                session,
                event.operation,
                event.name,
                OperationKind(event.kind),
                event.category,
                event.comment,
                Status.RUNNING,
                sequence,
                event.time,
                None,
                event.location,
                _text(attributes),
            ),
            id_,
        )

    def _ended(self, event: wire.OperationEnded) -> None:
        operation: Operation = self._get(Label.OPERATION, event.operation, "operation")
        more: dict[str, Any] = dict(event.attributes or {})
        if event.error is not None:
            more["error"] = event.error.model_dump()
        attributes = _text(msgspec.json.decode(operation.attributes) | more) if more else operation.attributes
        if operation.id in self.known.new[Label.OPERATION]:
            if operation.status is Status.RUNNING:
                ended = replace(operation, status=Status(event.status), ended_at=event.time, attributes=attributes)
                self.known.new[Label.OPERATION][operation.id] = ended
        else:
            self.endings.setdefault(operation.id, Ending(operation.id, Status(event.status), event.time, attributes))

    def _variable(self, event: wire.VariableEvent) -> None:
        id_ = self._id(Label.VARIABLE, event.variable)
        if self.known.find(Label.VARIABLE, id_) is not None:
            return
        session = None if event.session is None else self._get(Label.SESSION, event.session, "session").id
        operation = None if event.operation is None else self._get(Label.OPERATION, event.operation, "operation").id
        before = None if event.revision_of is None else self._get(Label.VARIABLE, event.revision_of, "revisionOf").id
        read = None if event.reads is None else self._get(Label.VARIABLE, event.reads, "reads")
        parts = value_parts(event.value)
        if parts.data is not None:
            self.values[parts.value_hash] = parts.data
        attributes = dict(event.attributes)
        if event.truncated:
            attributes["truncatedFrom"] = event.size
        if event.role is not None:
            attributes["role"] = event.role
        self._keep(
            Label.VARIABLE,
            lambda sequence: constructor(Variable)(
                id_,
                self.store.project_id,
                self.trace_id,
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
                sequence,
                event.time,
                None,
                _text(attributes),
                operation,
                before,
            ),
            id_,
        )

    def _use(self, operation: str, variable: str, role: str | None, position: int) -> None:
        used: Variable = self._get(Label.VARIABLE, variable, "variable")
        user: Operation = self._get(Label.OPERATION, operation, "operation")
        if used.operation_id == user.id:
            raise _EventError("variable: an operation does not use what it made itself")
        self.usages.append(Usage(user.id, used.id, role, position))

    def _derived(self, event: wire.Derived) -> None:
        source: Variable = self._get(Label.VARIABLE, event.source, "source")
        target: Variable = self._get(Label.VARIABLE, event.target, "target")
        operation = self._get(Label.OPERATION, event.operation, "operation")
        if source.sequence >= target.sequence:
            raise _EventError("source: it came after the target, which can't depend on it: this would close a cycle")
        id_ = self._id(Label.DERIVATION, event.derivation)
        self._keep(
            Label.DERIVATION,
            lambda sequence: constructor(Derivation)(
                id_,
                self.store.project_id,
                self.trace_id,
                source.id,
                target.id,
                operation.id,
                event.derivation,
                DerivationKind(event.kind),
                None,
                event.comment,
                sequence,
                event.time,
                None,
            ),
            id_,
        )


def _said_of(trace: Trace, event: wire.TraceEvent, is_new: bool) -> Trace:
    """A trace with what an event says of it; the name of one that is stored stays."""
    attributes = msgspec.json.decode(trace.attributes) | dict(event.attributes)
    name = (event.name or trace.name) if is_new else trace.name
    created_at: datetime | None = min(trace.created_at, event.time) if is_new and trace.created_at else trace.created_at
    return replace(trace, name=name, created_at=created_at, attributes=_text(attributes))


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
