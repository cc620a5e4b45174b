"""Writes wire events (``memtrace.events``) to the graph of a project.

Events of a trace are processed in order: an element must come before the events that refer to it, in the same call or
in an earlier one. Ids are made from the sender's ids, so an event that is sent twice changes nothing. A bad event never
keeps others out.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from memtrace import events as wire

from ingest.events.elements import Elements
from ingest.events.feedback import take_feedback
from ingest.events.names import EventRefusedError, names_of
from ingest.events.values import portions, read_beginnings
from schema.errors import ConflictError, InputError
from schema.ids import trace_id
from schema.models import NO_ATTRIBUTES, Batch, Trace
from store.contract.protocol import GraphStore
from store.values.packs import PackWriter

T = TypeVar("T")
P = ParamSpec("P")

_Portion = list[tuple[int, wire.Event]]

SOURCE = "memtrace"

_FEW_EVENTS = 20
"""Up to this number, events are processed without a thread: switching to a thread would take longer."""

_LONG_CHARACTERS = 64 << 10

_NO_UNICODE = "text that is not valid Unicode can't be stored"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an event is not in the graph.

    Attributes:
        index: position of the event in the caller's list.
        reason: what is wrong, and where.
        is_early: whether the event refers to an element that does not exist yet; the event may be accepted later.
        is_put_off: whether this turn had no time for the event. It is also early, but waits for no element.
    """

    index: int
    reason: str
    is_early: bool = False
    is_put_off: bool = False


async def take_events(store: GraphStore, events: Sequence[wire.Event]) -> list[Refusal]:
    """Write events to a project's graph; returns the refused events in order. The others are then in the graph."""
    divided = await asyncio.to_thread(_divided, events) if len(events) > _FEW_EVENTS else _divided(events)
    refused: list[Refusal] = []
    for external_id, parts, feedback in divided:
        for portion in parts:
            refused += await _take(store, external_id, portion)
        for index, judged in feedback:
            refused += await _take_feedback(store, index, judged)
    return sorted(refused, key=lambda refusal: refusal.index)


def _divided(events: Sequence[wire.Event]) -> list[tuple[str, list[_Portion], list[tuple[int, wire.Feedback]]]]:
    """Per trace: its id, portions of events to write together, and the feedback; events come with their positions.

    Feedback comes last: it needs the graph around its answer, and no other event refers to feedback.
    """
    made: dict[str, _Portion] = {}
    judged: dict[str, list[tuple[int, wire.Feedback]]] = defaultdict(list)
    for index, event in enumerate(events):
        of_trace = made.setdefault(event.trace, [])
        if isinstance(event, wire.Feedback):
            judged[event.trace].append((index, event))
        else:
            of_trace.append((index, event))
    return [(trace, list(portions(of_trace)), judged[trace]) for trace, of_trace in made.items()]


async def _take(store: GraphStore, external_id: str, events: Sequence[tuple[int, wire.Event]]) -> list[Refusal]:
    """Write events of one trace; if the store refuses all together, write each half separately."""
    try:
        return await _write(store, external_id, events)
    except (ConflictError, InputError) as error:
        reason = str(error)
    except UnicodeEncodeError:
        reason = _NO_UNICODE
    if len(events) == 1:
        return [Refusal(events[0][0], reason)]
    middle = len(events) // 2
    return await _take(store, external_id, events[:middle]) + await _take(store, external_id, events[middle:])


async def _take_feedback(store: GraphStore, index: int, event: wire.Feedback) -> list[Refusal]:
    try:
        await take_feedback(store, event)
    except EventRefusedError as error:
        return [Refusal(index, str(error), error.is_early)]
    except (ConflictError, InputError) as error:
        return [Refusal(index, str(error))]
    except UnicodeEncodeError:
        return [Refusal(index, _NO_UNICODE)]
    return []


async def _write(store: GraphStore, external_id: str, events: Sequence[tuple[int, wire.Event]]) -> list[Refusal]:
    id_ = trace_id(store.project_id, external_id)
    names = await names_of(store, id_, (event for _, event in events))
    stored = await store.stored(id_, await _aside(events, names.ids, [event for _, event in events]))
    trace = stored.trace or Trace(id_, store.project_id, external_id, None, SOURCE, events[0][1].time, NO_ATTRIBUTES)
    beginnings = await read_beginnings(store, names, stored, (event for _, event in events))
    elements = Elements(trace, names, stored, beginnings)
    refused, batch = await _aside(events, _build, elements, events)
    del beginnings
    if batch is None:
        return refused
    if not elements.values:
        await store.write(batch, stored=stored)
        return refused
    with PackWriter(await store.known_values(id_)) as values:
        await asyncio.to_thread(values.add_all, elements.values)
        await store.write(batch, values, stored)
    return refused


def _build(elements: Elements, events: Sequence[tuple[int, wire.Event]]) -> tuple[list[Refusal], Batch | None]:
    """The refusals, and the batch of the accepted events; None if no event was accepted."""
    refused = []
    for index, event in events:
        try:
            elements.add(event)
        except EventRefusedError as error:
            refused.append(Refusal(index, str(error), error.is_early))
        except UnicodeEncodeError:
            refused.append(Refusal(index, _NO_UNICODE))
    return refused, elements.batch() if len(refused) < len(events) else None


async def _aside(
    events: Sequence[tuple[int, wire.Event]], work: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Process events in a thread if that may take long, so that the event loop can serve others meanwhile."""
    if len(events) > _FEW_EVENTS or any(_is_large(event) for _, event in events):
        return await asyncio.to_thread(work, *args, **kwargs)
    return work(*args, **kwargs)


def _is_large(event: wire.Event) -> bool:
    """Whether one event may take long, because the event or its element has many attributes."""
    if isinstance(event, wire.VariableEvent) and (event.base is not None or len(event.value) > _LONG_CHARACTERS):
        return True
    return bool(getattr(event, "attributes", None) or getattr(event, "error", None))
