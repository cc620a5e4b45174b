"""The elements of a trace while its events are processed: stored ones, and new ones from the events."""

from __future__ import annotations

from typing import Any

from ingest.events.names import Names
from store.contract.answers import IN_ORDER, Label, Stored


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
        """Add a new element, whose sequence number is ``next[label]``."""
        self.new[label][element.id] = element
        self.next[label] += 1
