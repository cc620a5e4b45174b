"""The queue between the servers that accept events and the workers that write them to the graph, for both engines.

Each trace uses one of ``LANES`` lanes, and a lane belongs to one worker at a time, so the events of a trace stay in
order: the order in which they became durable, which does not depend on a clock that somebody can set. A packet leaves
its lane when its events are in the graph or among the dead letters, so a crash loses nothing. Writing a packet twice
changes nothing, because ids are made from the sender's ids.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from types import TracebackType
from typing import Protocol, Self

LANES = 16
LEASE_SECONDS = 12.0
"""A lane is taken from a worker that has not reported for this time."""

MOST_EVENTS = 4_000
MOST_BYTES = 16 << 20
MOST_REBUILT_BYTES = 16 << 20
"""A batch ends with the packet that reaches a limit: events, bytes, or bytes of rebuilt values. So a project waits for
at most one batch of another project."""


@dataclass(frozen=True, slots=True)
class Packet:
    """Events of one trace, in the sender's order.

    Attributes:
        project_id: the project of the trace.
        trace: the trace's id in the source.
        body: NDJSON, compressed with zstd.
        count: number of events.
        rebuilt: total size in bytes of the values to rebuild from the events' new parts; writing takes longer the
            larger this is.
        is_found: whether the platform found the events itself (edges between spans). Such events are written if
            possible, and never become dead letters.
    """

    project_id: str
    trace: str
    body: bytes
    count: int
    rebuilt: int = 0
    is_found: bool = False


@dataclass(frozen=True, slots=True)
class Delivery:
    """A packet that a worker has taken.

    Attributes:
        packet: the packet.
        tries: how often the packet was handed out, including this time.
        sent_at: when the packet became durable.
        key: unique among waiting packets, and the same each time the packet is handed out.
        handle: the engine's own reference to the packet.
    """

    packet: Packet
    tries: int
    sent_at: datetime
    key: int
    handle: object = None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event that could not be written.

    Attributes:
        id: number of the letter; None before it is stored.
        project_id: the project of the event.
        trace: the trace's id in the source.
        event: the event as it came; usually JSON, unless the sender wrote something else.
        reason: why the event could not be written.
        tries: number of tries to write the event.
        sent_at: when the event was accepted.
        died_at: when the event was given up.
    """

    id: int | None
    project_id: str
    trace: str
    event: bytes
    reason: str
    tries: int
    sent_at: datetime
    died_at: datetime

    @property
    def digest(self) -> bytes:
        """A hash that identifies the letter; the same event, accepted again later, makes another letter."""
        parts = (self.project_id.encode("utf-8", "surrogatepass"), self.sent_at.isoformat().encode(), self.event)
        return blake2b(b"\0".join(parts), digest_size=16).digest()


@dataclass(slots=True)
class Settlement:
    """The result of working on packets of one lane that were taken together.

    Attributes:
        done: packets that were written or given up; they leave the queue. May include packets from an earlier
            ``later``, if the events that they waited for have come.
        later: packets to hand out again, each after a number of seconds, or at once if the worker is gone by then.
        dead: events that are given up; they are stored before the packets leave the queue.
        found: packets of events that were found while writing; they are stored before the packets leave the queue.
            They count as the project's work like packets that were sent.
    """

    done: list[Delivery] = field(default_factory=list)
    later: list[tuple[Delivery, float]] = field(default_factory=list)
    dead: list[DeadLetter] = field(default_factory=list)
    found: list[Packet] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Share:
    """The lanes of a worker.

    Attributes:
        held: the lanes that the worker holds.
        surplus: held lanes beyond the worker's fair share; the worker gives them back when it is not working on them.
    """

    held: frozenset[int]
    surplus: frozenset[int]


@dataclass(frozen=True, slots=True)
class QueueState:
    """The state of the queue.

    Attributes:
        packets: number of packets that wait or are being written.
        bytes: compressed size of these packets.
        oldest: when the oldest of these packets was accepted.
        dead: number of dead letters of all projects.
        lost: number of dead letters that were deleted because there were too many.
        workers: number of workers that hold lanes.
    """

    packets: int
    bytes: int
    oldest: datetime | None
    dead: int
    lost: int
    workers: int


class DeadLetters(Protocol):
    """The dead letters of one project."""

    async def page(self, after: int = 0, limit: int = 100) -> list[DeadLetter]:
        """Letters with numbers above ``after``, the smallest number first."""
        ...

    async def get(self, letter_id: int) -> DeadLetter:
        """One letter.

        Raises:
            NotFoundError: the project has no letter with this number.
        """
        ...

    async def drop(self, letter_ids: Sequence[int]) -> int:
        """Delete letters for good; returns how many existed."""
        ...

    async def drop_all(self) -> int:
        """Delete all letters for good, and give their room back to the disk; returns how many existed."""
        ...

    async def count(self) -> int:
        """The number of letters."""
        ...

    async def lost(self) -> int:
        """The number of letters that were deleted because there were too many: the oldest letters go first."""
        ...


class EventQueue(Protocol):
    """A durable queue of events. Each method raises a ``StoreError`` if the queue can't be used."""

    max_packet_bytes: int
    """Largest body of a packet in bytes."""

    @property
    def is_away(self) -> bool:
        """Whether the queue is known to be unreachable at the moment."""
        ...

    async def put(self, packets: Sequence[Packet]) -> None:
        """Make packets durable. After an error, some packets may have been stored.

        Raises:
            QueueFullError: there is no room: try again later.
            StoreError: the queue can't be used.
        """
        ...

    async def share(self, worker: str, give_back: Collection[int] = ()) -> Share:
        """Hold a fair share of the lanes for ``LEASE_SECONDS`` more; must be called again before this time is over.

        Args:
            worker: the name of the worker; see ``ingest.queue.shares.worker_name``.
            give_back: held lanes on which the worker no longer works.
        """
        ...

    async def leave(self, worker: str) -> None:
        """Give back all lanes of a worker that ends."""
        ...

    async def take(self, lane: int, packets: int, seconds: float) -> list[Delivery]:
        """The next batch of a lane that the caller holds; waits at most ``seconds`` for the first packet.

        The oldest packets of each project come first, and the batch ends as ``Room`` says. A packet that was taken is
        not handed out again until it is settled, or until its worker is gone.
        """
        ...

    async def keep(self, deliveries: Sequence[Delivery]) -> None:
        """Report that work on packets continues."""
        ...

    async def settle(self, lane: int, settlement: Settlement) -> None:
        """Report the result for taken packets. Dead letters and found packets are durable before packets are removed.

        Raises:
            QueueFullError: there is no room for the found packets; nothing is removed.
            StoreError: the queue can't be used.
        """
        ...

    def letters(self, project_id: str) -> DeadLetters:
        """The dead letters of one project."""
        ...

    async def check(self) -> None:
        """Check whether the queue can accept more, as far as this machine can tell; fast, and may be called often.

        Raises:
            StoreError: the queue can't accept more.
        """
        ...

    async def state(self) -> QueueState:
        """The state of the queue."""
        ...

    async def close(self) -> None:
        """Close files and connections."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
