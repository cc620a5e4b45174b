"""From packets to the graph, and what becomes of what can't be written."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import structlog
import zstandard
from memtrace.events import Event, EventError

from ingest.events import Refusal, take_events
from ingest.packets import read, unpack
from ingest.queue import DeadLetter, Delivery, Outcome
from schema.errors import StoreError
from store.protocol import Database, GraphStore

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 300.0

_log = structlog.get_logger("memtrace.events")


async def write(
    database: Database,
    deliveries: Sequence[Delivery],
    tries: int,
    slots: asyncio.Semaphore,
    *,
    apart: bool = False,
) -> Outcome:
    """Write packets of one lane, its traces side by side.

    What refers to something that has not come yet is tried again later, ``tries`` times in all. What can't be written
    is a dead letter; its neighbours are in the graph.

    Args:
        database: where the projects are.
        deliveries: in the order of the lane.
        tries: how often an event is tried that came too early.
        slots: how many traces are written at a time, of all lanes together.
        apart: whether an error of the store may be the fault of one event, so that it is looked for in halves.

    Raises:
        StoreError: the store can't be used; nothing is lost, and writing again changes nothing.
    """
    outcome = Outcome()
    by_trace: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
    for delivery in deliveries:
        by_trace[delivery.packet.project_id, delivery.packet.trace].append(delivery)

    problems: list[Exception] = []

    async def write_one(project_id: str, of_trace: list[Delivery]) -> None:
        async with slots:
            if problems:  # all are written again
                return
            try:
                await _write_trace(database.project(project_id), of_trace, tries, outcome, apart=apart)
            except Exception as error:
                problems.append(error)

    await asyncio.gather(*(write_one(project_id, of_trace) for (project_id, _), of_trace in by_trace.items()))
    if problems:
        raise problems[0]
    return outcome


async def _write_trace(
    store: GraphStore, deliveries: list[Delivery], tries: int, outcome: Outcome, *, apart: bool
) -> None:
    opened = await asyncio.to_thread(_open, deliveries)
    events: list[Event] = []
    places: list[tuple[int, int]] = []
    refused: list[list[Refusal]] = [[] for _ in deliveries]
    for number, (lines, found) in enumerate(opened):
        for index, one in enumerate(found):
            if isinstance(one, EventError):
                refused[number].append(Refusal(index, str(one)))
            else:
                events.append(one)
                places.append((number, index))
        if not lines:
            refused[number].append(Refusal(0, "the packet is damaged"))
    for refusal in await _taken(store, events, apart=apart):
        number, index = places[refusal.index]
        refused[number].append(replace(refusal, index=index))
    for delivery, (lines, _), why in zip(deliveries, opened, refused, strict=True):
        if any(refusal.is_early for refusal in why) and delivery.tries < tries:
            outcome.later.append((delivery, wait_seconds(delivery.tries)))
        else:
            outcome.done.append(delivery)
            outcome.dead += [_letter(delivery, lines, refusal) for refusal in why]


async def _taken(store: GraphStore, events: Sequence[Event], *, apart: bool) -> list[Refusal]:
    """Take events; where that meets an error that nobody expects, the halves apart, down to the event at fault."""
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
    """How long to wait before the next try: exponential, with jitter above a half."""
    longest = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** min(tries - 1, 30))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 (nothing here is secret)


def _open(deliveries: Sequence[Delivery]) -> list[tuple[list[bytes], list[Event | EventError]]]:
    """The lines of each packet, and what they are; none where the packet is damaged."""
    opened: list[tuple[list[bytes], list[Event | EventError]]] = []
    for delivery in deliveries:
        try:
            lines = unpack(delivery.packet)
        except zstandard.ZstdError:
            lines = []
        opened.append((lines, read(lines)))
    return opened


def _letter(delivery: Delivery, lines: Sequence[bytes], refusal: Refusal) -> DeadLetter:
    packet = delivery.packet
    return DeadLetter(
        None,
        packet.project_id,
        packet.trace,
        lines[refusal.index] if lines else packet.body,
        refusal.reason,
        delivery.tries,
        delivery.sent_at,
        datetime.now(UTC),
    )
