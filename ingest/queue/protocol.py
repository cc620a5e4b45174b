"""The queue between the servers that accept events and the workers that write them to the graph, for both engines.

Each trace uses one of ``LANES`` lanes, and a lane belongs to one worker at a time, so the events of a trace stay in
order. The order is the one in which they became durable; it does not depend on a clock that somebody can set. A packet
leaves its lane when its events are in the graph or among the dead letters. So a crash loses nothing. If a packet is
written twice, nothing changes, because ids are made from the sender's ids.
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
"""Seconds that a lane waits for a worker that does not report any more."""

MOST_EVENTS = 4_000
MOST_BYTES = 16 << 20
MOST_REBUILT_BYTES = 16 << 20
"""A batch ends with the packet that reaches one of these: events, bytes, or bytes of rebuilt values. Another project
waits for one batch at most."""


@dataclass(frozen=True, slots=True)
class Packet:
    """Events of one trace, in the order of their sender.

    Attributes:
        project_id: the project of the trace.
        trace: the trace's id in the source.
        body: NDJSON, compressed with zstd.
        count: number of events.
        rebuilt: total size in bytes of the values of which the events contain only the new part; it decides how long
            writing takes.
    """

    project_id: str
    trace: str
    body: bytes
    count: int
    rebuilt: int = 0


@dataclass(frozen=True, slots=True)
class Delivery:
    """A packet that a worker has taken.

    Attributes:
        packet: the packet.
        tries: how often it was handed out, including this time.
        sent_at: when it became durable.
        key: distinguishes it from all others that wait; it is the same whenever the packet is handed out.
        handle: what the engine needs to find it.
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
        id: its number; None before it is stored.
        project_id: the project of the event.
        trace: the trace's id in the source.
        event: the event as it came; usually JSON, unless its sender wrote something else.
        reason: why it could not be written.
        tries: how often it was tried.
        sent_at: when it was accepted.
        died_at: when it was given up.
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
        """Distinguishes it from others. If the same event is accepted again later, that makes another letter."""
        parts = (self.project_id.encode("utf-8", "surrogatepass"), self.sent_at.isoformat().encode(), self.event)
        return blake2b(b"\0".join(parts), digest_size=16).digest()


@dataclass(slots=True)
class Outcome:
    """What became of the packets of one lane that were handed out together.

    Attributes:
        done: written or given up; they leave the queue. This includes packets that were to be handed out again later,
            if what they waited for has come before.
        later: to be handed out again, each after a number of seconds, or at once if its worker is gone by then.
        dead: events that are given up; they are stored before the packets leave the queue.
    """

    done: list[Delivery] = field(default_factory=list)
    later: list[tuple[Delivery, float]] = field(default_factory=list)
    dead: list[DeadLetter] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Share:
    """The lanes of a worker.

    Attributes:
        held: the lanes that it holds.
        surplus: those among them that exceed its share; it gives them back when it is not working on them.
    """

    held: frozenset[int]
    surplus: frozenset[int]


@dataclass(frozen=True, slots=True)
class QueueState:
    """The state of the queue.

    Attributes:
        packets: number of packets that wait or are being written.
        bytes: their size, compressed.
        oldest: when the oldest of them was accepted.
        dead: number of dead letters of all projects.
        workers: number of workers that hold lanes.
    """

    packets: int
    bytes: int
    oldest: datetime | None
    dead: int
    workers: int


class DeadLetters(Protocol):
    """The dead letters of one project."""

    async def page(self, after: int = 0, limit: int = 100) -> list[DeadLetter]:
        """The letters with greater numbers, the smallest number first."""
        ...

    async def get(self, letter_id: int) -> DeadLetter:
        """One letter.

        Raises:
            NotFoundError: the project has none with this number.
        """
        ...

    async def drop(self, letter_id: int) -> None:
        """Delete a letter for good; if it does not exist, nothing happens."""
        ...

    async def count(self) -> int:
        """The number of letters."""
        ...


class EventQueue(Protocol):
    """A durable queue of events. Errors of its own are always a ``StoreError``."""

    max_packet_bytes: int
    """Largest body of a packet in bytes."""

    async def put(self, packets: Sequence[Packet]) -> None:
        """Keep packets. When this returns, a crash loses none of them. If it raises, some may have been kept.

        Raises:
            QueueFullError: there is no room: try again later.
            StoreError: the queue can't be used.
        """
        ...

    async def share(self, worker: str, give_back: Collection[int] = ()) -> Share:
        """Hold a fair share of the lanes for ``LEASE_SECONDS`` more; call it again before that time has passed.

        Args:
            worker: the name of the worker; see ``ingest.queue.shares.worker_name``.
            give_back: lanes that it holds and no longer works on.
        """
        ...

    async def leave(self, worker: str) -> None:
        """Give back all lanes, because the worker ends."""
        ...

    async def take(self, lane: int, packets: int, seconds: float) -> list[Delivery]:
        """The next packets of a lane that the caller holds; waits for the first one at most so many seconds.

        For each project the oldest packets come first, and no more than ``batch_of`` allows to be written together.
        What was taken is not handed out to anybody until it is settled, or until its worker is gone.
        """
        ...

    async def keep(self, deliveries: Sequence[Delivery]) -> None:
        """Report that the work on these packets continues."""
        ...

    async def settle(self, lane: int, outcome: Outcome) -> None:
        """Report what became of packets that were taken. Dead letters are durable before the packets are removed."""
        ...

    def letters(self, project_id: str) -> DeadLetters:
        """The dead letters of one project."""
        ...

    async def check(self) -> None:
        """Check whether it can accept more, as far as this machine can tell; this is fast and may be called often.

        Raises:
            StoreError: it can't.
        """
        ...

    async def state(self) -> QueueState:
        """The state of the queue."""
        ...

    async def close(self) -> None:
        """Release everything."""
        ...

    async def __aenter__(self) -> Self:
        """Use it in an ``async with``."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        ...
