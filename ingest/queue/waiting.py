"""Events that came before what they refer to, and what each waits for: when that comes, they are taken at once.

This is the memory of one worker for one lane. What it forgets, or has no room for, loses nothing: the queue hands the
whole packet out again in a while, and what is written twice changes nothing.
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
        reason: why it can't be taken yet.
        missing: ids of what it waits for; where there are none, it waits for its time.
        makes: the id of what it makes, if it makes something.
    """

    line: bytes
    reason: str
    missing: set[str]
    makes: str | None


@dataclass(slots=True)
class Held:
    """A packet of which not all is written.

    Attributes:
        delivery: the packet as it was handed out last.
        early: its events that came too early, by their places.
        refused: its events that can't be taken, and why.
        is_forgotten: whether there was no room for one of its events: nothing wakes the others either.
    """

    delivery: Delivery
    early: dict[int, Early] = field(default_factory=dict)
    refused: list[tuple[bytes, str]] = field(default_factory=list)
    is_forgotten: bool = False


class Budget:
    """How much may be remembered by several together.

    Attributes:
        left: bytes.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.left = most


class Waiting:
    """The packets of a lane of which not all is written."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._held: dict[int, Held] = {}
        self._waiting: dict[str, set[tuple[int, int]]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not self._held

    def add(self, held: Held, place: int, early: Early) -> None:
        """Remember an event of a packet; the whole packet is forgotten where there is no room."""
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
        """What is known of a packet that is handed out again; it is known here no more."""
        held = self._held.get(key)
        if held is not None:
            self.forget(held)
        return held

    def forget(self, held: Held) -> None:
        """Nothing wakes this packet any more; nothing happens where it is not known."""
        if self._held.pop(held.delivery.key, None) is None:
            return
        for place, early in held.early.items():
            self._drop(held.delivery.key, place, early)

    def arrived(self, ids: Iterable[str]) -> list[tuple[Held, int, Early]]:
        """The events that wait for nothing else any more, now that these are there; they are known here no more.

        Those too that wait for what these events make, and so on: they are taken together.
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
