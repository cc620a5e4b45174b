"""What events name, and the ids in the graph that those names have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memtrace import events as wire

from schema.ids import IdMaker
from store.answers import IN_ORDER, Label

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
"""What events name, themselves too: where it is found is not asked of each event anew, for that takes longer than all
else about it."""

_DEFINING = (wire.SessionEvent, wire.OperationStarted, wire.VariableEvent, wire.Derived)
"""Events that make what they name first."""


def defined(event: wire.Event) -> tuple[Label, str] | None:
    """What an event makes, if it makes something that others refer to."""
    if not isinstance(event, _DEFINING):
        return None
    label, key = _NAMED[type(event)][0]
    return label, getattr(event, key)


def references(event: wire.Event) -> list[tuple[Label, str]]:
    """What must be there before an event can be taken."""
    named = _NAMED.get(type(event), ())[isinstance(event, _DEFINING) :]
    found = [(label, name) for label, key in named if (name := getattr(event, key)) is not None]
    return found + [(Label.VARIABLE, name) for name in _inside(event)]


def _inside(event: wire.Event) -> Sequence[str]:
    """The variables that an event names deeper inside."""
    if isinstance(event, wire.VariableEvent) and event.base is not None:
        return [event.base.variable]
    return event.evidence if isinstance(event, wire.Feedback) else ()


class Names:
    """The names in the events of one trace, and the ids that they are made to.

    Attributes:
        trace_id: the trace's.
    """

    def __init__(self, trace_id: str) -> None:
        self.trace_id = trace_id
        self._ids: dict[Label, dict[str, str]] = {label: {} for label in IN_ORDER}
        self._makers = {label: IdMaker(label.value, trace_id) for label in IN_ORDER}

    def id(self, label: Label, name: str) -> str:
        """The id of what the sender calls so."""
        ids = self._ids[label]
        id_ = ids.get(name)
        if id_ is None:
            id_ = ids[name] = self._makers[label](name)
        return id_

    def ids(self, events: Iterable[wire.Event]) -> Mapping[Label, Sequence[str]]:
        """The ids of all that events name, by label."""
        found: dict[Label, dict[str, None]] = {label: {} for label in IN_ORDER}
        for event in events:
            for label, key in _NAMED.get(type(event), ()):
                name = getattr(event, key)
                if name is not None:
                    found[label][name] = None
            for name in _inside(event):
                found[Label.VARIABLE][name] = None
        return {label: [self.id(label, name) for name in names] for label, names in found.items() if names}
