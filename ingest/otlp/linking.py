"""Finds the edges between two spans (see ``rules``), and turns (see ``turns``), after the later span was written.

The cost grows with the new spans, not with the trace: the newest spans of a trace are remembered, and older spans are
looked up only by the names that new spans have of them. The queue stores the edges before it removes a packet of spans,
so a crash in between only repeats the search.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

import structlog
from memtrace import events as wire
from memtrace.kinds import MAX_NAME_CHARACTERS

from ingest.events.names import Names
from ingest.otlp.known_spans import MOST_SPANS, KnownSpans, SpanMemory, keys_of, newest_texts
from ingest.otlp.names import OTEL, OUTPUT, edge_name, name_parts
from ingest.otlp.rules import Edge, Node, deletions, edges
from ingest.otlp.turns import of_turn, turns
from schema.ids import trace_id
from schema.models import Operation, Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.paging import every

E = TypeVar("E", Operation, Variable)

_BESIDE = 100_000
"""First position of a span's usages of other spans' variables; the span's own usages have smaller positions."""

_VARIABLES_A_SPAN = 4
_PAGE = 10_000
_MOST_LOOKUPS = 200
"""Largest number of units, parents and links of new spans that are looked up among older spans."""

_MOST_OF_A_NAME = 200
_HIGHEST = 10
"""Parents without variables that are looked up, one above the other."""

_log = structlog.get_logger("memtrace.otlp")


class Linker:
    """Finds edges between spans. A trace must not be linked twice at a time."""

    def __init__(self, memory: SpanMemory | None = None) -> None:
        self._memory = memory or SpanMemory()

    def forget(self, is_wanted: Callable[[str, str], bool]) -> None:
        """Forget the spans of traces that others may write from now on; see ``SpanMemory.forget``."""
        self._memory.forget(is_wanted)

    async def link(self, store: GraphStore, events: Sequence[wire.Event]) -> list[wire.Event]:
        """The events of the edges of the spans in some events of one trace, which were just written.

        Raises:
            StoreError: the store can't be used.
        """
        new, names = _spans_in(events)
        if not new:
            return []
        trace = events[0].trace
        of_trace = Names(trace_id(store.project_id, trace))
        known = await _updated(store, self._memory.take(store.project_id, trace), of_trace, new, names)
        older = KnownSpans() if known.is_whole else await _older(store, of_trace, known, new)
        nodes = older.nodes | known.nodes
        made, is_whole = await asyncio.to_thread(_events, trace, nodes, new)
        found = await asyncio.to_thread(turns, nodes, new)
        texts = await _texts(store, of_trace, [answer.name for _, answer in found if answer.text is None])
        for node, answer in found:
            made += of_turn(trace, node, answer, texts.get(answer.name, answer.text))
        if not is_whole:
            _log.warning("a trace has too many spans for all edges between them", project=store.project_id, trace=trace)
        self._memory.keep(store.project_id, trace, known)
        return made


async def _updated(
    store: GraphStore, known: KnownSpans | None, of_trace: Names, new: AbstractSet[str], names: Sequence[str]
) -> KnownSpans:
    """The known spans of a trace with new ones; reads the newest spans of the trace if none are known.

    Args:
        store: the store of the trace.
        known: what is known; is changed.
        of_trace: makes ids in the trace.
        new: the names of the new spans' operations.
        names: the names of the new variables.
    """
    ids = {
        Label.OPERATION: [of_trace.id(Label.OPERATION, name) for name in sorted(new)],
        Label.VARIABLE: [of_trace.id(Label.VARIABLE, name) for name in names],
    }
    stored = await store.stored(of_trace.trace_id, ids)
    operations: list[Operation] = list(stored.elements.get(Label.OPERATION, {}).values())
    variables: list[Variable] = list(stored.elements.get(Label.VARIABLE, {}).values())
    following, following_variable = stored.next[Label.OPERATION], stored.next[Label.VARIABLE]
    if known is None or known.next > following:  # never read, or deleted and begun again
        first = max(0, following - MOST_SPANS)
        first_variable = max(0, following_variable - _VARIABLES_A_SPAN * MOST_SPANS)
        known = KnownSpans(is_whole=not first and not first_variable)
        if (len(operations), len(variables)) != (following, following_variable):
            operations = await _newest(store, Operation, of_trace.trace_id, first) + operations
            variables = await _newest(store, Variable, of_trace.trace_id, first_variable) + variables
    long = newest_texts(variables)
    values = await store.values(long) if long else {}
    await asyncio.to_thread(known.add, operations, variables, values)
    known.next = following
    return known


async def _newest(store: GraphStore, model: type[E], trace: str, first: int) -> list[E]:
    """The elements of a trace from a place on."""
    label = Label(model.__name__)
    found = every(lambda after: store.page(label, trace, _PAGE, after, since=first))
    return [element async for element in found if isinstance(element, model)]


async def _older(store: GraphStore, of_trace: Names, known: KnownSpans, new: AbstractSet[str]) -> KnownSpans:
    """Spans before the known ones, by the names that new spans have of them: parents, links, and ids of units."""
    found = KnownSpans()
    wanted = {name for one in new & known.nodes.keys() for name in _named_by(known.nodes[one])} - known.nodes.keys()
    for _ in range(_HIGHEST):
        if not wanted:
            break
        ids = [of_trace.id(Label.OPERATION, name) for name in sorted(wanted)[:_MOST_LOOKUPS]]
        details = (await store.operations(ids)).values()
        found.add(
            [one.operation for one in details],
            [variable for one in details for variable in (*one.used, *one.generated)],
            {},
        )
        above = {found.nodes[name].parent for name in wanted & found.nodes.keys() if not found.nodes[name].values}
        wanted = {name for name in above if name is not None} - found.nodes.keys() - known.nodes.keys()
    units: dict[str, Variable] = {}
    for key in keys_of(known.nodes, new)[:_MOST_LOOKUPS]:
        for one in await store.named(key[:MAX_NAME_CHARACTERS], None, of_trace.trace_id, _MOST_OF_A_NAME):
            place = name_parts(one.external_id)
            if place is not None and place.operation not in known.nodes:
                units[place.operation + one.external_id] = one
    if units:
        makers = {place.operation for one in units.values() if (place := name_parts(one.external_id))}
        operations = await store.get(Label.OPERATION, [of_trace.id(Label.OPERATION, name) for name in sorted(makers)])
        found.add([one for one in operations if isinstance(one, Operation)], units.values(), {})
    return found


async def _texts(store: GraphStore, of_trace: Names, names: Sequence[str]) -> dict[str, str]:
    """The texts of variables that are not remembered, by the variables' names."""
    ids = [of_trace.id(Label.VARIABLE, name) for name in names]
    found = [one for one in await store.get(Label.VARIABLE, ids) if isinstance(one, Variable)] if ids else []
    values = await store.values(found) if found else {}
    return {one.external_id: (one.value or values[one.value_hash].decode()) for one in found}


def _named_by(node: Node) -> list[str]:
    return [*node.links, node.parent] if node.parent is not None else list(node.links)


def _spans_in(events: Iterable[wire.Event]) -> tuple[set[str], list[str]]:
    """The names of the operations of the spans in some events, and the names of the spans' variables in the events."""
    found: set[str] = set()
    variables: dict[str, None] = {}
    for event in events:
        if isinstance(event, wire.VariableEvent):
            place = name_parts(event.variable)
            if place is not None and OTEL in event.attributes:
                found.add(place.operation)
                variables[event.variable] = None
        elif isinstance(event, wire.OperationStarted) and OTEL in event.attributes:
            found.add(event.operation)
    return found, list(variables)


def _events(trace: str, nodes: Mapping[str, Node], new: AbstractSet[str]) -> tuple[list[wire.Event], bool]:
    """The events for all new edges, and whether all pairs of variables were compared."""
    made: list[wire.Event] = []
    found, has_all_edges = edges(nodes, new)
    for edge in found:
        made += _of_edge(trace, edge)
    deleted, has_all_deletions = deletions(nodes, new)
    made += [
        wire.Invalidated(trace=trace, time=node.began, variable=value.name, operation=node.name)
        for value, node in deleted
        if node.began is not None
    ]
    return made, has_all_edges and has_all_deletions


def _of_edge(trace: str, edge: Edge) -> list[wire.Event]:
    source, target, reader = edge.source, edge.target, edge.reader
    time, operation = target.at, reader.name
    asked = next((value for value in reader.values if value.side != OUTPUT), None)
    used: wire.Event
    if target.side == OUTPUT and not target.is_write and source.is_write and asked is not None:
        used = wire.Considered(
            trace=trace,
            time=time,
            operation=operation,
            query=asked.name,
            variable=source.name,
            rank=target.rank,
            score=target.score,
            returned=True,
        )
    else:
        place = _BESIDE + source.rank
        used = wire.Used(trace=trace, time=time, operation=operation, variable=source.name, position=place)
    derived = wire.Derived(
        trace=trace,
        time=time,
        derivation=edge_name(source.name, target.name),
        source=source.name,
        target=target.name,
        operation=operation,
        kind=edge.kind,
        comment=edge.comment,
    )
    return [used, derived]
