"""Senders' names of elements: the ids for names, and the elements of a trace while events are processed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memtrace import events as wire

from schema.ids import IdMaker
from store.contract.answers import IN_ORDER, Label, Stored

if TYPE_CHECKING:
    from store.contract.protocol import GraphStore

OF_GRAPH = "graph:"
"""The beginning of an occurrence's name, if the name is made from the occurrence's id."""
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
    wire.Feedback: ((Label.VARIABLE, "answer"), (Label.VARIABLE, "question")),
    wire.Invalidated: ((Label.VARIABLE, "variable"), (Label.OPERATION, "operation")),
}
"""The label and field of each name in a type of event, the event's own name first. A table, because finding the fields
by inspection would take most of an event's time."""

_DEFINING = (wire.SessionEvent, wire.OperationStarted, wire.VariableEvent, wire.Derived)
"""Types of events that create an element; their first named field is its name."""


def defined(event: wire.Event) -> tuple[Label, str] | None:
    """Label and name of the element that an event creates; None if other events can't refer to the element."""
    if not isinstance(event, _DEFINING):
        return None
    label, key = _NAMED[type(event)][0]
    return label, getattr(event, key)


def references(event: wire.Event) -> list[tuple[Label, str]]:
    """Label and name of each element that must exist before an event can be accepted."""
    named = _NAMED.get(type(event), ())[isinstance(event, _DEFINING) :]
    found = [(label, name) for label, key in named if (name := getattr(event, key)) is not None]
    return found + [(Label.VARIABLE, name) for name in _inside(event)]


def _inside(event: wire.Event) -> Sequence[str]:
    """The variables that an event names in nested fields."""
    if isinstance(event, wire.VariableEvent) and event.base is not None:
        return [event.base.variable]
    return event.evidence if isinstance(event, wire.Feedback) else ()


class Names:
    """Makes ids of the names in one trace's events.

    Attributes:
        trace_id: the id of the trace.
    """

    def __init__(self, trace_id: str) -> None:
        self.trace_id = trace_id
        self._ids: dict[Label, dict[str, str]] = {label: {} for label in IN_ORDER}
        self._makers = {label: IdMaker(label.value, trace_id) for label in IN_ORDER}

    def id(self, label: Label, name: str) -> str:
        """The id of the element with the sender's name ``name``."""
        ids = self._ids[label]
        id_ = ids.get(name)
        if id_ is None:
            id_ = ids[name] = self._makers[label](name)
        return id_

    def mean(self, ids: Mapping[str, str]) -> None:
        """Let some names of variables mean these ids."""
        self._ids[Label.VARIABLE].update(ids)

    def ids(self, events: Iterable[wire.Event]) -> Mapping[Label, Sequence[str]]:
        """The ids of all names in the events, by label."""
        found: dict[Label, dict[str, None]] = {label: {} for label in IN_ORDER}
        for event in events:
            for label, key in _NAMED.get(type(event), ()):
                name = getattr(event, key)
                if name is not None:
                    found[label][name] = None
            for name in _inside(event):
                found[Label.VARIABLE][name] = None
        return {label: [self.id(label, name) for name in names] for label, names in found.items() if names}


async def names_of(store: GraphStore, trace_id: str, events: Iterable[wire.Event]) -> Names:
    """The ids of the names in some events of a trace.

    A written file (``ingest.files.wire.write``) names an occurrence by its id, because the sender's name of it is not
    stored. Where the trace has the occurrence, the name means it; elsewhere the name is like any other.
    """
    names = Names(trace_id)
    said = {name for event in events for name in _variables(event) if name.startswith(OF_GRAPH)}
    if said:
        stored = await store.get(Label.VARIABLE, [name.removeprefix(OF_GRAPH) for name in said])
        names.mean({f"{OF_GRAPH}{one.id}": one.id for one in stored if getattr(one, "trace_id", "") == trace_id})
    return names


def _variables(event: wire.Event) -> list[str]:
    """The variables that an event names."""
    said = [getattr(event, key) for label, key in _NAMED.get(type(event), ()) if label is Label.VARIABLE]
    return [name for name in (*said, *_inside(event)) if name is not None]


class EventRefusedError(Exception):
    """An event that can't be accepted.

    Attributes:
        is_early: whether the event refers to an element that does not exist yet.
    """

    def __init__(self, reason: str, is_early: bool = False) -> None:
        self.is_early = is_early
        super().__init__(reason)


class Known:
    """The elements of a trace by the ids of the sender.

    Attributes:
        new: elements that are not stored yet, by label and id, in the order of the trace.
        next: the next free sequence number in the trace, by label.
    """

    def __init__(self, names: Names, stored: Stored) -> None:
        self.new: dict[Label, dict[str, Any]] = {label: {} for label in IN_ORDER}
        self.id = names.id
        self._stored = {label: stored.elements.get(label, {}) for label in IN_ORDER}
        self._changed: dict[str, Any] = {}
        self.next = dict(stored.next)

    def find(self, label: Label, name: str) -> Any:
        """The element with this id of the sender; None if there is none."""
        id_ = self.id(label, name)
        return self.new[label].get(id_) or self._changed.get(id_) or self._stored[label].get(id_)

    def get(self, label: Label, name: str, field: str) -> Any:
        """The element to which a field of an event refers.

        Raises:
            EventRefusedError: it does not exist, or not yet.
        """
        found = self.find(label, name)
        if found is None:
            reason = f"{field}: there is no {label.value.lower()} {name!r} in this trace"
            raise EventRefusedError(reason, is_early=True)
        return found

    def is_new(self, label: Label, id_: str) -> bool:
        """Whether an element is not stored yet."""
        return id_ in self.new[label]

    def change(self, label: Label, element: Any) -> None:
        """Replace a known element by a new state with the same id and sequence number."""
        known = self.new[label] if self.is_new(label, element.id) else self._changed
        known[element.id] = element

    def add(self, label: Label, element: Any) -> None:
        """Add a new element, which has the sequence number ``next[label]``, and raise ``next[label]`` by one."""
        self.new[label][element.id] = element
        self.next[label] += 1
