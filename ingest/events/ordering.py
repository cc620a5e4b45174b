"""The order of events and variables.

Events that came together are sorted so that each event comes after all elements that the event refers to: senders keep
this order, but parallel requests, retries and dead letters do not.

A derivation whose source came after its target moves the target, and the target's dependents, to later sequence
numbers. Variables are numbered (``sequence``) as they come, and a source always has a smaller number than its target,
so no cycle can arise, and a derivation that agrees with the numbers needs no search in the graph. A derivation that
doesn't agree either closes a cycle (its source derives from its target) and is refused, or the numbers between its ends
are given out anew. Method: Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs" (2006).
Only variables that depend on the target, and variables that the source depends on, exchange their numbers.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memtrace import events as wire
from memtrace.events import Derived, Event

from ingest.events.elements import Elements
from ingest.events.names import EventRefusedError, defined, names_of, references
from ingest.events.taking import Refusal
from schema.errors import ConflictError, InputError
from schema.ids import trace_id
from schema.models import Placing, Variable
from store.contract.answers import Budget, Direction, Label, Stored
from store.contract.protocol import GraphStore

_Places = Mapping[tuple[Label, str], int]


def order_of(events: Sequence[wire.Event]) -> list[int] | None:
    """``in_order``, but assumes that events with increasing times are in order.

    A wrong assumption costs only time: an event that came too early is tried again.
    """
    return None if all(one.time <= next_.time for one, next_ in pairwise(events)) else in_order(events)


def in_order(events: Sequence[wire.Event]) -> list[int] | None:
    """The positions of the events in an order that puts references first; None if the events are in order already.

    The source of a derivation comes before the target. Otherwise the events keep their order; events that refer to each
    other in a circle keep their order too (they will be refused).
    """
    places: dict[tuple[Label, str], int] = {}
    for place, event in enumerate(events):
        made = defined(event)
        if made is not None:
            places.setdefault(made, place)
    if all(before < after for before, after in _relations(events, places)):
        return None
    waits_for = [0] * len(events)
    followers: list[list[int]] = [[] for _ in events]
    for before, after in _relations(events, places):
        followers[before].append(after)
        waits_for[after] += 1
    ready = [place for place, count in enumerate(waits_for) if count == 0]
    order: list[int] = []
    while ready:
        place = heapq.heappop(ready)
        order.append(place)
        for follower in followers[place]:
            waits_for[follower] -= 1
            if waits_for[follower] == 0:
                heapq.heappush(ready, follower)
    return order + [place for place, count in enumerate(waits_for) if count]


def _relations(events: Sequence[wire.Event], places: _Places) -> Iterator[tuple[int, int]]:
    """Pairs of positions: the first event of a pair must come before the second."""
    for place, event in enumerate(events):
        for name in references(event):
            before = places.get(name)
            if before is not None and before != place:
                yield before, place
        if isinstance(event, wire.Derived):
            source = places.get((Label.VARIABLE, event.source))
            target = places.get((Label.VARIABLE, event.target))
            if source is not None and target is not None and source != target:
                yield source, target


MOST_LOOKED_AT = 20_000
"""Largest number of variables that one derivation may move."""

STEPS_OF_A_TURN = 500_000
"""How many derivations the searches of one turn may follow before the other derivations wait for a later turn."""

_LEVELS_ONE_BY_ONE = 32
"""A search that needs more reads than this reads all that it may still need at once: a long chain has many levels."""

_STEPS_BETWEEN_PAUSES = 10_000

_CYCLE = "source: it came after the target, and depends on it: this would close a cycle"
_TOO_FAR = (
    f"source: it came after the target, and more than {MOST_LOOKED_AT:,} variables would have to change their places"
)


_PUT_OFF = "source: it came after the target, and the variables are searched in a later turn"


@dataclass(slots=True)
class Steps:
    """The derivations that the searches of a turn may still follow. A search that has begun is not stopped.

    Attributes:
        left: how many; None if there is no limit.
    """

    left: int | None = None


async def with_late_sources(
    store: GraphStore, events: Sequence[Event], refused: Sequence[Refusal], steps: Steps | None = None
) -> list[Refusal]:
    """Retry the refused derivations by renumbering variables; returns the events that stay refused.

    Args:
        store: contains the trace.
        events: all events of the attempt to write.
        refused: the refused ones among ``events``.
        steps: what the searches may use; derivations for which nothing is left are put off. By default without limit.

    Raises:
        StoreError: the store can't be used; writing again changes nothing.
    """
    late = {one.index: event for one in refused if not one.is_early and isinstance(event := events[one.index], Derived)}
    if not late:
        return list(refused)
    places = list(late)
    still = await take_late_sources(store, list(late.values()), steps)
    found = [one for one in refused if one.index not in late]
    found += [replace(one, index=places[one.index]) for one in still]
    return sorted(found, key=lambda one: one.index)


async def take_late_sources(store: GraphStore, events: Sequence[Derived], steps: Steps | None = None) -> list[Refusal]:
    """Write derivations of one trace, renumbering variables where needed; returns the refused events in order.

    See ``with_late_sources`` for ``steps``.

    Raises:
        StoreError: the store can't be used; writing again changes nothing.
    """
    steps = steps or Steps()
    try:
        return await _take(store, events, steps)
    except (ConflictError, InputError) as error:
        reason = str(error)
    if len(events) == 1:
        return [Refusal(0, reason)]
    middle = len(events) // 2
    first = await take_late_sources(store, events[:middle], steps)
    second = await take_late_sources(store, events[middle:], steps)
    return first + [replace(refusal, index=refusal.index + middle) for refusal in second]


async def _take(store: GraphStore, events: Sequence[Derived], steps: Steps) -> list[Refusal]:
    names = await names_of(store, trace_id(store.project_id, events[0].trace), events)
    stored = await store.stored(names.trace_id, names.ids(events))
    if stored.trace is None:
        return [Refusal(index, "source: it came after the target") for index in range(len(events))]
    variables, derivations = (stored.elements.get(label, {}) for label in (Label.VARIABLE, Label.DERIVATION))
    order = _Order(store, variables.values(), steps)
    refused: dict[int, str] = {}
    put_off: set[int] = set()
    for index, event in enumerate(events):
        source, target = (names.id(Label.VARIABLE, name) for name in (event.source, event.target))
        is_new = names.id(Label.DERIVATION, event.derivation) not in derivations
        if is_new and source in variables and target in variables:
            if order.must_wait(source, target):
                refused[index] = _PUT_OFF
                put_off.add(index)
                continue
            reason = await order.join(source, target)
            if reason is not None:
                refused[index] = reason
    elements = Elements(stored.trace, names, _moved(stored, order), {})
    early = set()
    for index, event in enumerate(events):
        if index not in refused:
            try:
                elements.add(event)
            except EventRefusedError as error:
                refused[index] = str(error)
                early |= {index} if error.is_early else set()
    placings = [Placing(id_, place) for id_, place in sorted(order.moved.items())]
    if len(refused) < len(events):
        await store.write(replace(elements.batch(), placings=placings), stored=stored)
    return [
        Refusal(index, reason, index in early or index in put_off, index in put_off)
        for index, reason in sorted(refused.items())
    ]


def _moved(stored: Stored, order: _Order) -> Stored:
    variables = {
        id_: replace(variable, sequence=order.places[id_])
        for id_, variable in stored.elements.get(Label.VARIABLE, {}).items()
    }
    return replace(stored, elements={**stored.elements, Label.VARIABLE: variables})


class _TooFarError(Exception):
    """More variables would have to be searched than is allowed."""


class _Order:
    """The sequence numbers of the variables that a search has read.

    Attributes:
        places: sequence number by variable id.
        moved: ids of the variables whose number has changed.
    """

    def __init__(self, store: GraphStore, variables: Iterable[Variable], steps: Steps) -> None:
        self.places = {variable.id: variable.sequence for variable in variables}
        self.moved: dict[str, int] = {}
        self._store = store
        self._steps = steps
        self._stored: dict[Direction, dict[str, set[str]]] = {direction: {} for direction in Direction}
        self._new: dict[Direction, dict[str, set[str]]] = {direction: defaultdict(set) for direction in Direction}

    def must_wait(self, source: str, target: str) -> bool:
        """Whether a derivation needs a search, and no steps are left for it."""
        left = self._steps.left
        return left is not None and left <= 0 and self.places[source] > self.places[target]

    async def join(self, source: str, target: str) -> str | None:
        """Move a source before its target; returns None, or why the move is impossible."""
        if source == target:
            return _CYCLE
        first, last = self.places[target], self.places[source]
        if last > first:
            try:
                after = await self._reached(target, Direction.FORWARD, first, last, source)
                if source in after:
                    return _CYCLE
                before = await self._reached(source, Direction.BACKWARD, first, last)
            except _TooFarError:
                return _TOO_FAR
            moving = [*sorted(before, key=self.places.__getitem__), *sorted(after, key=self.places.__getitem__)]
            free = sorted(self.places[id_] for id_ in moving)
            changed = {id_: place for id_, place in zip(moving, free, strict=True) if self.places[id_] != place}
            self.places |= changed
            self.moved |= changed
        self._new[Direction.FORWARD][source].add(target)
        self._new[Direction.BACKWARD][target].add(source)
        return None

    async def _reached(
        self, start: str, direction: Direction, first: int, last: int, wanted: str | None = None
    ) -> set[str]:
        """The variables between two sequence numbers that can be reached from ``start``; ends early at ``wanted``.

        Raises:
            _TooFarError: the search would read more than ``MOST_LOOKED_AT`` variables.
        """
        known, new, places = self._stored[direction], self._new[direction], self.places
        found, level = {start}, [start]
        reads = steps = 0
        while level and wanted not in found:
            if unknown := [id_ for id_ in level if id_ not in known]:
                reads += 1
                if reads == _LEVELS_ONE_BY_ONE:
                    await self._read_all(unknown, direction)
                await self._read([id_ for id_ in unknown if id_ not in known], direction)
            ahead = []
            for id_ in level:
                others = known[id_] | new[id_] if id_ in new else known[id_]
                steps += 1 + len(others)
                for other in others:
                    if other not in found and first <= places[other] <= last:
                        found.add(other)
                        ahead.append(other)
            level = ahead
            if steps > _STEPS_BETWEEN_PAUSES or not level or len(found) > MOST_LOOKED_AT:
                self._count(steps)
                steps = 0
                await asyncio.sleep(0)
            if len(found) > MOST_LOOKED_AT:
                raise _TooFarError
        self._count(steps)
        return found

    def _count(self, steps: int) -> None:
        if self._steps.left is not None:
            self._steps.left -= steps

    async def _read(self, ids: Sequence[str], direction: Direction) -> None:
        """Read the derivations of some variables, and the places of the variables at their other ends."""
        if not ids:
            return
        known = self._stored[direction]
        found = await self._store.derivations_of(ids, direction, MOST_LOOKED_AT)
        for id_ in ids:
            edges = found.get(id_, [])
            if len(edges) >= MOST_LOOKED_AT:
                raise _TooFarError
            known[id_] = {edge.source if direction is Direction.BACKWARD else edge.target for edge in edges}
        others = sorted({other for id_ in ids for other in known[id_]} - self.places.keys())
        for variable in await self._store.get(Label.VARIABLE, others) if others else ():
            assert isinstance(variable, Variable)
            self.places[variable.id] = variable.sequence

    async def _read_all(self, ids: Sequence[str], direction: Direction) -> None:
        """Read the derivations of all that can be reached from some variables, up to the limit of one search."""
        closure = await self._store.closure(ids, direction, Budget(nodes=MOST_LOOKED_AT))
        frontier = set(closure.frontier)
        # Derivations that lead out of a cut closure are not in it: their variables are read one level at a time.
        ends: dict[str, set[str]] = {
            variable.id: set() for variable in closure.variables if variable.id not in frontier
        }
        for edge in closure.derivations:
            here, there = (edge.source, edge.target) if direction is Direction.FORWARD else (edge.target, edge.source)
            if here in ends:
                ends[here].add(there)
        for variable in closure.variables:
            self.places.setdefault(variable.id, variable.sequence)
        for id_, others in ends.items():
            self._stored[direction].setdefault(id_, others)
