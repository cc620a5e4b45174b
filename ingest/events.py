"""From wire events (``memtrace.events``) to the graph of a project.

Events of a trace are taken in their order: what an event refers to came before it, in the same call or in an earlier
one. Ids are made of the sender's ids, so that an event that is sent twice changes nothing. A bad event never keeps its
neighbours out.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from memtrace import events as wire

from ingest.elements import Elements
from ingest.known import EventRefusedError
from ingest.names import Names
from ingest.values import portions
from schema.errors import ConflictError, InputError
from schema.ids import trace_id
from schema.models import NO_ATTRIBUTES, Trace
from store.packs import PackWriter
from store.protocol import GraphStore

SOURCE = "memtrace"

_EVENTS_A_BREATH = 200
"""So many events are built in one go: a server that writes itself answers others in between."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an event is not in the graph.

    Attributes:
        index: its place among those that were sent.
        reason: what is wrong, and where.
        is_early: whether it refers to something that is not there yet: it may be taken when that has come.
    """

    index: int
    reason: str
    is_early: bool = False


async def take_events(store: GraphStore, events: Sequence[wire.Event]) -> list[Refusal]:
    """Write events to a project's graph; those that are refused, in order. The others are there when this returns."""
    by_trace: dict[str, list[int]] = defaultdict(list)
    for index, event in enumerate(events):
        by_trace[event.trace].append(index)
    refused: list[Refusal] = []
    for external_id, indexes in by_trace.items():
        for portion in portions([(index, events[index]) for index in indexes]):
            refused += await _take(store, external_id, portion)
    return sorted(refused, key=lambda refusal: refusal.index)


async def _take(store: GraphStore, external_id: str, events: Sequence[tuple[int, wire.Event]]) -> list[Refusal]:
    """Write events of one trace; where the store refuses them together, the halves apart."""
    try:
        return await _write(store, external_id, events)
    except (ConflictError, InputError) as error:
        reason = str(error)
    except UnicodeEncodeError:
        reason = "text that is not valid Unicode can't be stored"
    if len(events) == 1:
        return [Refusal(events[0][0], reason)]
    middle = len(events) // 2
    return await _take(store, external_id, events[:middle]) + await _take(store, external_id, events[middle:])


async def _write(store: GraphStore, external_id: str, events: Sequence[tuple[int, wire.Event]]) -> list[Refusal]:
    id_ = trace_id(store.project_id, external_id)
    names = Names(id_)
    stored = await store.stored(id_, names.ids(event for _, event in events))
    trace = stored.trace or Trace(id_, store.project_id, external_id, None, SOURCE, events[0][1].time, NO_ATTRIBUTES)
    elements = Elements(store, trace, names, stored)
    refused = []
    for place, (index, event) in enumerate(events, 1):
        if place % _EVENTS_A_BREATH == 0:
            await asyncio.sleep(0)
        try:
            if isinstance(event, wire.VariableEvent) and event.base is not None:
                elements.add(await elements.whole(event, event.base))
            else:
                elements.add(event)
        except EventRefusedError as error:
            refused.append(Refusal(index, str(error), error.is_early))
    if len(refused) == len(events):
        return refused
    if not elements.values:
        await store.write(elements.batch(), stored=stored)
        return refused
    with PackWriter(await store.known_values(id_)) as values:
        for value_hash, data in elements.values.items():
            values.add(value_hash, data)
        await store.write(elements.batch(), values, stored)
    return refused
