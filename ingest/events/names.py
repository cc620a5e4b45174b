"""The sender's names in events, and the ids that the graph has for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memtrace import events as wire

from schema.ids import IdMaker
from store.contract.answers import IN_ORDER, Label

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
