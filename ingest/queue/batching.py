"""Which packets of a lane are written together: projects take turns, and a batch takes about a second at most."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TypeVar

from ingest.queue.protocol import MOST_BYTES, MOST_EVENTS, MOST_REBUILT_BYTES, Packet

T = TypeVar("T")


class Room:
    """The room that is left in a batch."""

    def __init__(self, packets: int) -> None:
        self._packets, self._events, self._bytes, self._rebuilt = packets, MOST_EVENTS, MOST_BYTES, MOST_REBUILT_BYTES

    @property
    def is_full(self) -> bool:
        """Whether the last packet has reached a limit."""
        return min(self._packets, self._events, self._bytes, self._rebuilt) <= 0

    def take(self, packet: Packet) -> None:
        """Count one more packet."""
        self._packets -= 1
        self._events -= packet.count
        self._bytes -= len(packet.body)
        self._rebuilt -= packet.rebuilt


def in_turn(of_projects: Iterable[Iterable[T]]) -> Iterator[T]:
    """The first of each, then the second of each, and so on; each is asked only for what is taken."""
    waiting = deque(iter(one) for one in of_projects)
    while waiting:
        first = waiting.popleft()
        for item in first:
            yield item
            waiting.append(first)
            break
