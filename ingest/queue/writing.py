"""Writes packets to the graph, and decides what becomes of events that can't be written."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import structlog
from memtrace.events import Event, encode

from ingest.events.ordering import STEPS_OF_A_TURN, Steps, with_late_sources
from ingest.events.taking import Refusal, take_events
from ingest.otlp.linking import Linker
from ingest.queue.packets import pack, unpacked_bytes
from ingest.queue.protocol import DeadLetter, Delivery, Packet, Settlement
from ingest.queue.turns import Turns
from ingest.queue.write_packets import Held, Waiting, write_packets
from schema.errors import StoreError
from store.contract.protocol import Database, GraphStore

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 300.0

_log = structlog.get_logger("memtrace.events")


PART_BYTES, PART_EVENTS = 8 << 20, 4_000
"""Largest part of a trace that is written in one turn (one packet may be larger): bytes of unpacked events and rebuilt
values, and number of events."""


class Slots:
    """Limits the number and size of parts that are written at the same time; projects take turns."""

    def __init__(self, concurrency: int) -> None:
        """``concurrency``: number of parts of batches that are written at a time; at most one part is large."""
        self._turns = Turns(concurrency)
        self._large = Turns(1)

    @asynccontextmanager
    async def turn(self, project_id: str, size: int) -> AsyncIterator[None]:
        """Hold a slot for a part of ``size`` bytes. Large parts are written one at a time, because they need memory."""
        async with AsyncExitStack() as stack:
            if size > PART_BYTES:
                await stack.enter_async_context(self._large.turn(project_id))
            await stack.enter_async_context(self._turns.turn(project_id))
            yield


_FEW_EDGES = 500
"""Up to this number, events of edges between spans are written with the spans; more edges go through the queue, where
other projects get their turns."""

_FEW_LETTERS = 200
"""Up to this number, dead letters are made without a thread: switching to a thread would take longer."""


@dataclass(slots=True)
class _Batch:
    """State that all traces of a batch share.

    Attributes:
        problems: errors of the store; one error makes the worker write the whole batch again.
    """

    tries: int
    slots: Slots
    waiting: Waiting
    linker: Linker
    apart: bool
    settlement: Settlement = field(default_factory=Settlement)
    problems: list[Exception] = field(default_factory=list)


async def write(
    database: Database,
    deliveries: Sequence[Delivery],
    tries: int,
    slots: Slots,
    waiting: Waiting,
    linker: Linker,
    *,
    apart: bool = False,
) -> Settlement:
    """Write packets of one lane, all traces at the same time.

    An event that came too early is written when its missing elements come; it is also tried again from time to time, at
    most ``tries`` times in total. An event that can't be written becomes a dead letter.

    Args:
        database: the database of all projects.
        deliveries: the packets, in the order of the lane.
        tries: largest number of tries for an event that came too early.
        slots: limits simultaneous writing by all lanes together.
        waiting: the lane's remembered events, which came too early before.
        linker: finds the edges between spans.
        apart: whether to search by halving for an event that causes an error of the store.

    Raises:
        StoreError: the store can't be used; nothing is lost, and writing again changes nothing.
    """
    batch = _Batch(tries, slots, waiting, linker, apart)
    by_trace: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
    for delivery in deliveries:
        by_trace[delivery.packet.project_id, delivery.packet.trace].append(delivery)

    async def write_one(project_id: str, of_trace: list[Delivery]) -> None:
        try:
            await _write_trace(database.project(project_id), of_trace, batch)
        except Exception as error:
            batch.problems.append(error)

    await asyncio.gather(*(write_one(project_id, of_trace) for (project_id, _), of_trace in by_trace.items()))
    if batch.problems:
        raise batch.problems[0]
    return batch.settlement


async def _write_trace(store: GraphStore, deliveries: list[Delivery], batch: _Batch) -> None:
    """Write packets of one trace in parts, each part in a turn of its own."""

    async def take(events: Sequence[Event]) -> list[Refusal]:
        refused = await _taken(store, events, apart=batch.apart)
        try:
            found = await batch.linker.link(store, events)
            if len(found) > _FEW_EDGES:
                batch.settlement.found += await asyncio.to_thread(_packed, store.project_id, found)
            elif late := await write_found(store, found, Steps(STEPS_OF_A_TURN)):
                batch.settlement.found += _packed(store.project_id, late)
        except StoreError:
            raise
        except Exception:
            # The spans are in the graph: a bug in finding edges must not block the lane for ever.
            _log.exception("spans could not be linked", project=store.project_id, events=len(events))
        return refused

    own: list[Held] = []
    others: list[Held] = []
    rest = deliveries
    while rest:
        part = _first_part(rest)
        rest = rest[len(part) :]
        size = sum(_size(delivery) for delivery in part)
        async with batch.slots.turn(store.project_id, size):
            if batch.problems:  # the whole batch will be written again
                return
            written, woken = await write_packets(store, part, batch.waiting, take)
        own += written
        others += woken
    keys = {held.delivery.key for held in own}
    await _settle(own, [held for held in others if held.delivery.key not in keys], batch)


async def write_found(store: GraphStore, events: Sequence[Event], steps: Steps | None = None) -> list[Event]:
    """Write edges between spans of one trace, and log refused edges.

    Returns:
        The edges for which ``steps`` left no time.
    """
    if not events:
        return []
    refused = await with_late_sources(store, events, await take_events(store, events), steps)
    _log_refused(store.project_id, [one for one in refused if not one.is_put_off])
    return [events[one.index] for one in refused if one.is_put_off]


def _log_refused(project_id: str, refused: Sequence[Refusal]) -> None:
    if refused:
        reason = refused[0].reason
        _log.info("edges between spans were not taken", project=project_id, events=len(refused), reason=reason)


def _packed(project_id: str, events: Sequence[Event]) -> list[Packet]:
    """Packets of found events."""
    return [replace(packet, is_found=True) for packet, _ in pack(project_id, ((encode(one), one) for one in events))]


async def _settle(own: Sequence[Held], others: Sequence[Held], batch: _Batch) -> None:
    """Add packets, and earlier packets that waited for them, to the settlement of the batch."""
    settlement = batch.settlement
    done = list(others)
    for held in own:
        is_sent = not held.delivery.packet.is_found
        if held.is_put_off and not held.is_forgotten:
            # Without a limit of tries: each turn decides some of these events, and remembers which.
            settlement.later.append((held.delivery, FIRST_WAIT_SECONDS / 2))
            continue
        if held.early and held.delivery.tries < batch.tries and is_sent:
            settlement.later.append((held.delivery, wait_seconds(held.delivery.tries)))
            continue
        batch.waiting.forget(held)
        done.append(held)
    settlement.done += [held.delivery for held in done]
    sent = []
    for held in done:
        if held.delivery.packet.is_found:
            reasons = [reason for _, reason in held.refused] + [one.reason for one in held.early.values()]
            _log_refused(held.delivery.packet.project_id, [Refusal(0, reason) for reason in reasons])
        else:
            sent.append(held)
    many = sum(len(held.refused) for held in sent) > _FEW_LETTERS
    settlement.dead += await asyncio.to_thread(_letters, sent) if many else _letters(sent)


def _first_part(deliveries: Sequence[Delivery]) -> list[Delivery]:
    """The first part of some packets; a part has at least one packet."""
    size = events = 0
    for count, delivery in enumerate(deliveries):
        size += _size(delivery)
        events += delivery.packet.count
        if count and (size > PART_BYTES or events > PART_EVENTS):
            return list(deliveries[:count])
    return list(deliveries)


def _size(delivery: Delivery) -> int:
    return unpacked_bytes(delivery.packet) + delivery.packet.rebuilt


async def _taken(store: GraphStore, events: Sequence[Event], *, apart: bool) -> list[Refusal]:
    """Write events; after an unexpected error, write the halves separately, down to the event that causes it."""
    if not events:
        return []
    try:
        return await take_events(store, events)
    except StoreError as error:
        if not apart:
            raise
        reason = str(error)
    except Exception as error:
        _log.exception("an unexpected error", project=store.project_id, trace=events[0].trace, events=len(events))
        reason = f"unexpected {type(error).__name__}; the worker's log has more"
    if len(events) == 1:
        return [Refusal(0, reason)]
    middle = len(events) // 2
    first = await _taken(store, events[:middle], apart=apart)
    second = await _taken(store, events[middle:], apart=apart)
    return first + [replace(refusal, index=refusal.index + middle) for refusal in second]


def wait_seconds(tries: int) -> float:
    """Seconds until the next try: exponential, with a random factor from 0.5 to 1."""
    longest = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** min(tries - 1, 30))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 (nothing here is secret)


def _letters(done: Sequence[Held]) -> list[DeadLetter]:
    """The dead letters of packets that are done: their refused events, and events that still came too early."""
    now = datetime.now(UTC)
    return [
        DeadLetter(
            None,
            held.delivery.packet.project_id,
            held.delivery.packet.trace,
            line,
            reason,
            held.delivery.tries,
            held.delivery.sent_at,
            now,
        )
        for held in done
        for line, reason in [*held.refused, *((one.line, one.reason) for _, one in sorted(held.early.items()))]
    ]
