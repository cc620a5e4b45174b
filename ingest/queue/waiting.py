"""Events that came before what they refer to, and what each waits for: when that comes, they are written at once.

This is the memory of one worker for one lane. If it forgets something, or has no room for it, nothing is lost: the
queue hands the whole packet out again after a while, and what is written twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ingest.queue.protocol import Delivery

MOST_BYTES = 64 << 20
"""Of events that a worker remembers, of all its lanes together."""

_ENTRY_BYTES = 600
"""About what an event takes beside its line."""


@dataclass(slots=True)
class Early:
    """An event that came too early.

    Attributes:
        line: the event as it came.
        reason: why it can't be written yet.
        missing: ids of what it waits for; if empty, it waits for its next try.
        makes: the id of what it creates, if it creates something.
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
        early: its events that came too early, by their places.
        refused: its events that can't be written, and why.
        is_forgotten: whether there was no room for one of its events; then its other events are not remembered either.
    """

    delivery: Delivery
    early: dict[int, Early] = field(default_factory=dict)
    refused: list[tuple[bytes, str]] = field(default_factory=list)
    is_forgotten: bool = False


class Budget:
    """How much several waiting lists may remember together.

    Attributes:
        left: bytes.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.left = most


class Waiting:
    """The packets of a lane that are not completely written."""

    def __init__(self, budget: Budget) -> None:
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
        """What is known of a packet that is handed out again; it is forgotten here."""
        held = self._held.get(key)
        if held is not None:
            self.forget(held)
        return held

    def forget(self, held: Held) -> None:
        """Forget a packet; nothing happens if it is not known."""
        if self._held.pop(held.delivery.key, None) is None:
            return
        for place, early in held.early.items():
            self._drop(held.delivery.key, place, early)

    def arrived(self, ids: Iterable[str]) -> list[tuple[Held, int, Early]]:
        """The events that do not wait for anything any more, now that these ids exist; they are forgotten here.

        This includes events that wait for what these events create, and so on: they are written together.
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
        """Forget all."""
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
