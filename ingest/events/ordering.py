"""Sorts events of a trace so that each event comes after all elements that the event refers to.

Senders keep this order, but parallel requests, retries and dead letters do not.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from memtrace import events as wire

from ingest.events.names import defined, references
from store.contract.answers import Label

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
