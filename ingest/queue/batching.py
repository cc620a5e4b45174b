"""Chooses the packets of a lane's next batch: a batch takes about a second, and projects share the worker's time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush

from ingest.queue.protocol import MOST_BYTES, MOST_EVENTS, MOST_REBUILT_BYTES, Delivery, Packet

_LEAST_WORK = 0.01
"""Share of a batch that a packet takes, whatever its events take."""


class Room:
    """The room that is left in a batch."""

    def __init__(self, packets: int) -> None:
        self._packets, self._events, self._bytes, self._rebuilt = packets, MOST_EVENTS, MOST_BYTES, MOST_REBUILT_BYTES

    @property
    def is_full(self) -> bool:
        """Whether the last packet has reached a limit."""
        return min(self._packets, self._events, self._bytes, self._rebuilt) <= 0

    def take(self, packet: Packet) -> None:
        """Subtract one packet."""
        self._packets -= 1
        self._events -= packet.count
        self._bytes -= len(packet.body)
        self._rebuilt -= packet.rebuilt


class FairOrder:
    """Decides which project's packet of a lane is next: projects share the work, not the number of packets.

    Method: start-time fair queueing (Goyal, Vin and Cheng, 1996). Each project has a clock, which each packet moves on
    by the packet's work. The project whose clock is furthest behind is next. A new or returning project starts at the
    time of the last packet, so a project can't save up turns. Example: project A sends packets of a second each,
    project B small packets. After a packet of A, waiting packets of B are taken until they add up to the same work.
    """

    def __init__(self) -> None:
        self._now = 0.0
        self._clocks: dict[str, float] = {}

    def deliveries(self, of_projects: Mapping[str, Iterable[Delivery]]) -> Iterator[Delivery]:
        """The packets in fair order; each iterable is read only as far as needed.

        Args:
            of_projects: the waiting packets of each project, in their order; a tie goes to the first project.
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
    """Estimated share of a batch that a packet takes; above 1 if the packet takes longer than a batch should."""
    return max(
        _LEAST_WORK,
        packet.count / MOST_EVENTS,
        len(packet.body) / MOST_BYTES,
        packet.rebuilt / MOST_REBUILT_BYTES,
    )
