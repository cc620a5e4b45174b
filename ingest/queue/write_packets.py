"""Writes the packets of one trace to the graph, and remembered events as soon as their missing elements have come.

Events that came too early are remembered, one ``Waiting`` per lane. Forgetting an event loses nothing: the queue hands
the whole packet out again after a while, and writing an event twice changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import zstandard
from memtrace.events import Event, EventError

from ingest.events.names import Names, defined, names_of, references
from ingest.events.ordering import STEPS_OF_A_TURN, Steps, order_of, with_late_sources
from ingest.events.reading import read
from ingest.events.taking import Refusal
from ingest.events.values import MOST_REBUILT_BYTES, rebuilt_bytes
from ingest.queue.packets import unpack
from ingest.queue.protocol import Delivery
from schema.ids import trace_id
from store.contract.protocol import GraphStore

MOST_BYTES = 64 << 20
"""Largest total size of the events that a worker remembers, in bytes, all lanes together."""

_ENTRY_BYTES = 600
"""Estimated memory per event, in bytes, without the event's line."""


@dataclass(slots=True)
class Early:
    """An event that came too early.

    Attributes:
        line: the event as it came.
        reason: why the event can't be written yet.
        missing: ids of the elements that the event waits for; if empty, the event waits for its next try.
        makes: id of the element that the event creates; None if it creates no element.
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
        early: events that came too early, by their position in the packet.
        refused: events that can't be written, and why.
        is_forgotten: whether there was no room for an event; then no event of the packet is remembered.
        is_put_off: whether the turn had no time for some events of the packet; such a turn does not count as a try.
    """

    delivery: Delivery
    early: dict[int, Early] = field(default_factory=dict)
    refused: list[tuple[bytes, str]] = field(default_factory=list)
    is_forgotten: bool = False
    is_put_off: bool = False


class WaitingBudget:
    """The memory that several ``Waiting`` may use together.

    Attributes:
        left: bytes left.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.left = most


class Waiting:
    """The packets of a lane that are not completely written."""

    def __init__(self, budget: WaitingBudget) -> None:
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
        """Remove and return the state of a packet that is handed out again; None if it is not remembered."""
        held = self._held.get(key)
        if held is not None:
            self.forget(held)
        return held

    def forget(self, held: Held) -> None:
        """Forget a packet, if it is remembered."""
        if self._held.pop(held.delivery.key, None) is None:
            return
        for place, early in held.early.items():
            self._drop(held.delivery.key, place, early)

    def arrived(self, ids: Iterable[str]) -> list[tuple[Held, int, Early]]:
        """Remove and return the events that can be written, now that elements with these ids exist.

        Includes events that wait only for elements which the returned events create.
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
        """Forget all packets."""
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


_FEW = 200
"""Up to this number, events are sorted without a thread."""

_PUT_OFF = "base: more values are to be rebuilt than one turn is for; it waits for its next try"

Take = Callable[[Sequence[Event]], Awaitable[list[Refusal]]]


@dataclass(slots=True)
class _Pending:
    """An event on its way to the graph.

    Attributes:
        held: the event's packet.
        place: position of the event in the packet.
        line: the event as it came.
    """

    held: Held
    place: int
    line: bytes
    event: Event


@dataclass(slots=True)
class _Room:
    """What the events may still use in one turn.

    Attributes:
        left: bytes of rebuilt values, for remembered events.
        steps: derivations that searches may follow, for derivations whose source came late.
    """

    left: int = MOST_REBUILT_BYTES
    steps: Steps = field(default_factory=lambda: Steps(STEPS_OF_A_TURN))


async def write_packets(
    store: GraphStore, deliveries: Sequence[Delivery], waiting: Waiting, take: Take
) -> tuple[list[Held], list[Held]]:
    """Write the events of packets of one trace, and the remembered events that wait for them.

    Args:
        store: the store of the trace.
        deliveries: the packets, in their order.
        waiting: the remembered events; events that come too early now are added.
        take: writes events of the trace.

    Returns:
        The state of the given packets, in their order; and earlier packets, no event of which still waits.

    Raises:
        StoreError: the store can't be used; nothing is lost, and writing again changes nothing.
    """
    known = [waiting.take(delivery.key) for delivery in deliveries]
    opened = await asyncio.to_thread(_opened, deliveries, known)
    own: list[Held] = []
    pending_events: list[_Pending] = []
    for delivery, before, lines in zip(deliveries, known, opened, strict=True):
        held = Held(delivery, refused=before.refused if before else [])
        own.append(held)
        if lines is None:
            held.refused.append((delivery.packet.body, "the packet is damaged"))
        for place, line, event in lines or ():
            if isinstance(event, EventError):
                held.refused.append((line, str(event)))
            else:
                pending_events.append(_Pending(held, place, line, event))
    for held in own:  # the pending events have the lines now
        held.delivery = replace(held.delivery, packet=replace(held.delivery.packet, body=b""))
    touched = {held.delivery.key: held for held in own}
    room = _Room()
    try:
        while pending_events:
            pending_events = await _pass(store, pending_events, waiting, take, touched, room)
    except BaseException:
        # The events that were being written are only in the queue now.
        for held in touched.values():
            waiting.forget(held)
        raise
    keys = {held.delivery.key for held in own}
    return own, [held for key, held in touched.items() if key not in keys and not held.early]


async def _pass(
    store: GraphStore,
    pending_events: list[_Pending],
    waiting: Waiting,
    take: Take,
    touched: dict[int, Held],
    room: _Room,
) -> list[_Pending]:
    """Write events; returns the events that can be written next. Adds the packets of woken events to ``touched``."""
    events = [pending.event for pending in pending_events]
    # Sorting many events takes long, so it runs in a thread, beside the event loop.
    order = await asyncio.to_thread(order_of, events) if len(events) > _FEW else order_of(events)
    if order is not None:
        pending_events = [pending_events[place] for place in order]
        events = [pending.event for pending in pending_events]
    refused = {one.index: one for one in await with_late_sources(store, events, await take(events), room.steps)}
    names = await names_of(store, trace_id(store.project_id, pending_events[0].event.trace), events)
    again: list[_Pending] = []
    early = [index for index, one in refused.items() if one.is_early]
    if early:
        missing = await _missing(store, names, [pending_events[index].event for index in early])
        for index, ids in zip(early, missing, strict=True):
            pending = pending_events[index]
            if refused[index].is_put_off:
                pending.held.is_put_off = True
            elif not ids and len(refused) < len(pending_events):
                again.append(pending)  # its missing elements came later in the same pass, and exist now
                continue
            made = _made(names, pending.event)
            waiting.add(pending.held, pending.place, Early(pending.line, refused[index].reason, ids, made))
    for index, one in refused.items():
        if not one.is_early:
            pending_events[index].held.refused.append((pending_events[index].line, one.reason))
    if waiting.is_empty:
        return again
    there = [pending.event for index, pending in enumerate(pending_events) if index not in refused]
    there += [pending.event for pending in again]
    woken = waiting.arrived(id_ for event in there if (id_ := _made(names, event)) is not None)
    touched |= {held.delivery.key: held for held, _, _ in woken}
    if not woken:
        return again
    return again + [
        pending
        for pending in await asyncio.to_thread(_pending_events, woken)
        if not _is_put_off(pending, names, waiting, room)
    ]


def _is_put_off(pending: _Pending, names: Names, waiting: Waiting, room: _Room) -> bool:
    """Whether a woken event must wait for its next try, because this turn's room for rebuilt values is used up."""
    size = rebuilt_bytes(pending.event)
    if not size or size <= room.left:
        room.left -= size
        return False
    waiting.add(pending.held, pending.place, Early(pending.line, _PUT_OFF, set(), _made(names, pending.event)))
    return True


async def _missing(store: GraphStore, names: Names, events: Sequence[Event]) -> list[set[str]]:
    """The ids in each event's references that are not stored."""
    stored = await store.stored(names.trace_id, names.ids(events))
    there = {id_ for elements in stored.elements.values() for id_ in elements}
    return [{names.id(*name) for name in references(event)} - there for event in events]


def _pending_events(woken: Sequence[tuple[Held, int, Early]]) -> list[_Pending]:
    events = read([one.line for _, _, one in woken])
    return [
        _Pending(held, place, one.line, event)
        for (held, place, one), event in zip(woken, events, strict=True)
        if not isinstance(event, EventError)  # always true: the line was parsed before
    ]


def _made(names: Names, event: Event) -> str | None:
    made = defined(event)
    return None if made is None else names.id(*made)


_Lines = list[tuple[int, bytes, Event | EventError]]


def _opened(deliveries: Sequence[Delivery], known: Sequence[Held | None]) -> list[_Lines | None]:
    """The unwritten lines of each packet, with their positions and their events; None for a damaged packet."""
    found: list[_Lines | None] = []
    for delivery, held in zip(deliveries, known, strict=True):
        try:
            lines = _numbered(held, delivery)
        except zstandard.ZstdError:
            found.append(None)
        else:
            events = read([line for _, line in lines])
            found.append([(place, line, event) for (place, line), event in zip(lines, events, strict=True)])
    return found


def _numbered(held: Held | None, delivery: Delivery) -> list[tuple[int, bytes]]:
    lines: Iterable[tuple[int, bytes]] = (
        enumerate(unpack(delivery.packet))
        if held is None
        else ((place, early.line) for place, early in sorted(held.early.items()))
    )
    return list(lines)
