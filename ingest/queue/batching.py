"""Which packets of a lane are written together: a batch takes about a second, and projects share the worker's time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush

from ingest.queue.protocol import MOST_BYTES, MOST_EVENTS, MOST_REBUILT_BYTES, Delivery, Packet

_LEAST_WORK = 0.01
"""Of a batch: what a packet takes beside its events."""


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


class FairOrder:
    """Whose packet of a lane is next, from batch to batch: projects share the work, not the number of packets.

    This is start-time fair queueing (Goyal, Vin and Cheng, 1996). Each project has a clock, and each of its packets
    moves that clock on by the work that it is. The project whose clock is furthest behind is next. A project that
    comes, or comes back, starts at the time of the packet that was handed out last, so it can't save up turns. If one
    project sends packets that take a second each and another sends small ones, all small ones that are waiting are
    taken before the next large one, until they are as much work.
    """

    def __init__(self) -> None:
        self._now = 0.0
        self._clocks: dict[str, float] = {}

    def deliveries(self, of_projects: Mapping[str, Iterable[Delivery]]) -> Iterator[Delivery]:
        """Packets in the order in which they are to be handed out. Each iterable is asked only for what is needed next.

        Args:
            of_projects: the waiting packets of each project, in their order; among equals, the first project is first.
        """
        self._clocks = {project: clock for project, clock in self._clocks.items() if clock > self._now}
        waiting: list[tuple[float, int, str]] = []
        for place, project in enumerate(of_projects):
            heappush(waiting, (self._clocks.get(project, self._now), place, project))
        packets = {project: iter(some) for project, some in of_projects.items()}
        while waiting:
            clock, place, project = heappop(waiting)
            delivery = next(packets[project], None)
            if delivery is None:
                continue
            self._now = clock
            self._clocks[project] = clock + _work(delivery.packet)
            yield delivery
            heappush(waiting, (self._clocks[project], place, project))


def _work(packet: Packet) -> float:
    """About how much of a batch a packet takes; more than 1 for one that takes longer than a batch should."""
    return max(
        _LEAST_WORK,
        packet.count / MOST_EVENTS,
        len(packet.body) / MOST_BYTES,
        packet.rebuilt / MOST_REBUILT_BYTES,
    )
