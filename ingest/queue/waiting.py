"""Remembers events that refer to elements which have not come yet; when the elements come, the events are written.

Each worker has one ``Waiting`` per lane. Forgetting an event loses nothing: the queue hands the whole packet out again
after a while, and writing an event twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ingest.queue.protocol import Delivery

MOST_BYTES = 64 << 20
"""Largest total size of the events that a worker remembers, in bytes, all lanes together."""

_ENTRY_BYTES = 600
"""Estimated memory per event, in bytes, without the event's line."""


@dataclass(slots=True)
class Early:
    """An event that came too early.

    Attributes:
        line: the event as it came.
        reason: why the event can't be written yet.
        missing: ids of the elements that the event waits for; if empty, the event waits for its next try.
        makes: id of the element that the event creates; None if it creates no element.
    """

    line: bytes
    reason: str
    missing: set[str]
    makes: str | None


@dataclass(slots=True)
class Held:
    """A packet that is not completely written.

    Attributes:
        delivery: the packet as it was handed out last.
        early: events that came too early, by their position in the packet.
        refused: events that can't be written, and why.
        is_forgotten: whether there was no room for an event; then no event of the packet is remembered.
    """

    delivery: Delivery
    early: dict[int, Early] = field(default_factory=dict)
    refused: list[tuple[bytes, str]] = field(default_factory=list)
    is_forgotten: bool = False


class WaitingBudget:
    """The memory that several ``Waiting`` may use together.

    Attributes:
        left: bytes left.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.left = most


class Waiting:
    """The packets of a lane that are not completely written."""

    def __init__(self, budget: WaitingBudget) -> None:
        self._budget = budget
        self._held: dict[int, Held] = {}
        self._waiting: dict[str, set[tuple[int, int]]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not self._held

    def add(self, held: Held, place: int, early: Early) -> None:
        """Remember an event of a packet; if there is no room, the whole packet is forgotten."""
        held.early[place] = early
        if held.is_forgotten:
            return
        key = held.delivery.key
        self._held[key] = held
        self._budget.left -= _size(early)
        for id_ in early.missing:
            self._waiting.setdefault(id_, set()).add((key, place))
        if self._budget.left < 0:
            self.forget(held)
            held.is_forgotten = True

    def take(self, key: int) -> Held | None:
        """Remove and return the state of a packet that is handed out again; None if it is not remembered."""
        held = self._held.get(key)
        if held is not None:
            self.forget(held)
        return held

    def forget(self, held: Held) -> None:
        """Forget a packet, if it is remembered."""
        if self._held.pop(held.delivery.key, None) is None:
            return
        for place, early in held.early.items():
            self._drop(held.delivery.key, place, early)

    def arrived(self, ids: Iterable[str]) -> list[tuple[Held, int, Early]]:
        """Remove and return the events that can be written, now that elements with these ids exist.

        Includes events that wait only for elements which the returned events create.
        """
        found: list[tuple[Held, int, Early]] = []
        there = list(ids)
        while there:
            id_ = there.pop()
            for key, place in sorted(self._waiting.pop(id_, ())):
                held = self._held[key]
                early = held.early[place]
                early.missing.discard(id_)
                if early.missing:
                    continue
                del held.early[place]
                self._drop(key, place, early)
                if not held.early:
                    del self._held[key]
                found.append((held, place, early))
                if early.makes is not None:
                    there.append(early.makes)
        return found

    def close(self) -> None:
        """Forget all packets."""
        for held in list(self._held.values()):
            self.forget(held)

    def _drop(self, key: int, place: int, early: Early) -> None:
        self._budget.left += _size(early)
        for id_ in early.missing:
            waiting = self._waiting.get(id_)
            if waiting is not None:
                waiting.discard((key, place))
                if not waiting:
                    del self._waiting[id_]


def _size(early: Early) -> int:
    return len(early.line) + len(early.reason) + _ENTRY_BYTES
