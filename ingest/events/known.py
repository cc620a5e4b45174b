"""What is known of a trace while events are taken: what is stored, and what they add."""

from __future__ import annotations

from typing import Any

from ingest.events.names import Names
from store.answers import IN_ORDER, Label, Stored


class EventRefusedError(Exception):
    """An event that can't be taken.

    Attributes:
        is_early: whether it refers to something that is not there yet.
    """

    def __init__(self, reason: str, is_early: bool = False) -> None:
        self.is_early = is_early
        super().__init__(reason)


class Known:
    """The elements of a trace by what the sender calls them.

    Attributes:
        new: those that are not stored yet, by label and id, in the order of the trace.
        next: the next free place in the trace, by label.
    """

    def __init__(self, names: Names, stored: Stored) -> None:
        self.new: dict[Label, dict[str, Any]] = {label: {} for label in IN_ORDER}
        self.id = names.id
        self._stored = {label: stored.elements.get(label, {}) for label in IN_ORDER}
        self.next = dict(stored.next)

    def find(self, label: Label, name: str) -> Any:
        """What the sender calls so; None where there is nothing."""
        id_ = self.id(label, name)
        return self.new[label].get(id_) or self._stored[label].get(id_)

    def get(self, label: Label, name: str, field: str) -> Any:
        """What a field of an event refers to.

        Raises:
            EventRefusedError: it is not there, or not yet.
        """
        found = self.find(label, name)
        if found is None:
            reason = f"{field}: there is no {label.value.lower()} {name!r} in this trace"
            raise EventRefusedError(reason, is_early=True)
        return found

    def add(self, label: Label, element: Any) -> None:
        """Add a new element, which has taken the next place in the trace."""
        self.new[label][element.id] = element
        self.next[label] += 1
