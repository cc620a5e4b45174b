"""The queue between those who take events and those who write them to the graph: what both engines of it do.

Events of one trace stay in order, for they go through one of ``LANES`` lanes, and a lane is one worker's at a time. The
order is that in which they were made durable; no clock that somebody can set has a say in it. A packet leaves its lane
when its events are in the graph or among the dead letters: a crash loses nothing, and what is taken twice changes
nothing, because ids are made of the sender's.
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
"""How long a lane waits for a worker that is gone."""

MOST_EVENTS = 4_000
MOST_BYTES = 16 << 20
MOST_REBUILT_BYTES = 16 << 20
"""A batch ends with the packet that reaches one of these: events, bytes, or bytes of values that are rebuilt. It is
what another project waits for."""


@dataclass(frozen=True, slots=True)
class Packet:
    """Events of one trace, in the order of their sender.

    Attributes:
        project_id: whose they are.
        trace: the trace's id in the source.
        body: NDJSON, compressed with zstd.
        count: how many events.
        rebuilt: bytes of the values of which its events say only what is new: writing them takes as long as of these.
    """

    project_id: str
    trace: str
    body: bytes
    count: int
    rebuilt: int = 0


@dataclass(frozen=True, slots=True)
class Delivery:
    """A packet that a worker has in hand.

    Attributes:
        packet: what it is.
        tries: how often it was handed out, this time included.
        sent_at: when it was made durable.
        key: tells it from all others that wait; the same whenever it is handed out.
        handle: what the queue knows it by.
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
        id: its number; None before it is kept.
        project_id: whose it is.
        trace: the trace's id in the source.
        event: the event as it came; JSON, where it is what its sender wrote.
        reason: why not.
        tries: how often it was tried.
        sent_at: when it was taken.
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
        """Tells it from others: the same event, taken again, is another letter, which outlives this one."""
        parts = (self.project_id.encode("utf-8", "surrogatepass"), self.sent_at.isoformat().encode(), self.event)
        return blake2b(b"\0".join(parts), digest_size=16).digest()


@dataclass(slots=True)
class Outcome:
    """What became of the packets of one lane that were handed out together.

    Attributes:
        done: written, or given up: they leave the queue. Also those that were to be handed out again later, when what
            they waited for has come before.
        later: to be handed out again, each after a number of seconds, or at once where its worker is gone by then.
        dead: what is given up; kept before the packets leave the queue.
    """

    done: list[Delivery] = field(default_factory=list)
    later: list[tuple[Delivery, float]] = field(default_factory=list)
    dead: list[DeadLetter] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Share:
    """A worker's lanes.

    Attributes:
        held: those that it holds.
        surplus: those among them that are more than its share: to be given back when no work is under way on them.
    """

    held: frozenset[int]
    surplus: frozenset[int]


@dataclass(frozen=True, slots=True)
class QueueState:
    """How the queue stands.

    Attributes:
        packets: that wait or are in hand.
        bytes: of them, compressed.
        oldest: when the oldest of them was taken.
        dead: letters of all projects.
        workers: how many hold lanes.
    """

    packets: int
    bytes: int
    oldest: datetime | None
    dead: int
    workers: int


class DeadLetters(Protocol):
    """The dead letters of one project."""

    async def page(self, after: int = 0, limit: int = 100) -> list[DeadLetter]:
        """The letters with greater numbers, the smallest first."""
        ...

    async def get(self, letter_id: int) -> DeadLetter:
        """One letter.

        Raises:
            NotFoundError: the project has none with this number.
        """
        ...

    async def drop(self, letter_id: int) -> None:
        """Delete a letter for good; nothing happens where it is gone already."""
        ...

    async def count(self) -> int:
        """How many there are."""
        ...


class EventQueue(Protocol):
    """A durable queue of events. All that it raises for reasons of its own is a ``StoreError``."""

    max_packet_bytes: int
    """A larger body can't be kept."""

    async def put(self, packets: Sequence[Packet]) -> None:
        """Keep packets; when this returns, a crash loses none. Where it raises, some may have been kept.

        Raises:
            QueueFullError: there is no room: try again later.
            StoreError: the queue can't be used.
        """
        ...

    async def share(self, worker: str, give_back: Collection[int] = ()) -> Share:
        """Hold a fair share of the lanes for ``LEASE_SECONDS`` more; call it again before they have passed.

        Args:
            worker: who holds them; see ``ingest.queue.shares.worker_name``.
            give_back: lanes that it holds and works on no more.
        """
        ...

    async def leave(self, worker: str) -> None:
        """Give back all lanes: the worker is gone."""
        ...

    async def take(self, lane: int, packets: int, seconds: float) -> list[Delivery]:
        """The next packets of a lane that the caller holds; waits for the first one at most so long.

        Of each project the oldest first, and no more than ``batch_of`` allows to be written together. What was taken
        is taken again by nobody until it is settled, or until its worker is gone.
        """
        ...

    async def keep(self, deliveries: Sequence[Delivery]) -> None:
        """Say that the work on these goes on."""
        ...

    async def settle(self, lane: int, outcome: Outcome) -> None:
        """Say what became of packets that were taken. The dead letters are durable before the packets are gone."""
        ...

    def letters(self, project_id: str) -> DeadLetters:
        """The dead letters of one project."""
        ...

    async def check(self) -> None:
        """Whether it can take more, as far as this machine can tell; quick, and asked as often as one likes.

        Raises:
            StoreError: it can't.
        """
        ...

    async def state(self) -> QueueState:
        """How it stands."""
        ...

    async def close(self) -> None:
        """Free what is held."""
        ...

    async def __aenter__(self) -> Self:
        """Use it in an ``async with``."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        ...
