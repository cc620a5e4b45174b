"""Writes the edges between two spans (see ``rules``) after the later of the spans was written.

The queue links before it removes a packet, so a crash in between only repeats the linking.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import msgspec
import structlog
from memtrace import events as wire

from ingest.events.ordering import with_late_sources
from ingest.events.taking import take_events
from ingest.otlp.names import OTEL, OUTPUT, edge_name, name_parts, operation_name
from ingest.otlp.rules import Edge, Node, Value, deletions, edges
from schema.ids import trace_id
from schema.models import Operation, Variable
from store.contract.protocol import GraphStore
from store.shared.paging import elements

_AT_A_TIME = 2_000
_BESIDE = 100_000
"""First position of a span's usages of other spans' variables; the span's own usages have smaller positions."""

_log = structlog.get_logger("memtrace.otlp")


async def link(store: GraphStore, events: Sequence[wire.Event]) -> None:
    """Write the edges of the spans in some events of one trace, which were just written.

    Raises:
        StoreError: the store can't be used; linking again changes nothing.
    """
    new = _spans_in(events)
    if not new:
        return
    trace = events[0].trace
    id_ = trace_id(store.project_id, trace)
    operations = await elements(store, Operation, id_)
    variables = [
        one for one in await elements(store, Variable, id_) if not one.occurrence and name_parts(one.external_id)
    ]
    touched = {name[:32] for name in new}
    long = [one for one in variables if one.value is None and one.external_id[:32] in touched]
    values = await store.values(long) if long else {}
    made, is_whole = await asyncio.to_thread(_events, trace, operations, variables, values, new)
    if not is_whole:
        _log.warning("a trace has too many spans for all edges between them", project=store.project_id, trace=trace)
    for start in range(0, len(made), _AT_A_TIME):
        part = made[start : start + _AT_A_TIME]
        for refusal in await with_late_sources(store, part, await take_events(store, part)):
            _log.info("an edge between spans was not taken", project=store.project_id, reason=refusal.reason)


def _spans_in(events: Iterable[wire.Event]) -> set[str]:
    found = set()
    for event in events:
        if isinstance(event, wire.VariableEvent):
            place = name_parts(event.variable)
            if place is not None and OTEL in event.attributes:
                found.add(place.operation)
        elif isinstance(event, wire.OperationStarted) and OTEL in event.attributes:
            found.add(event.operation)
    return found


def _events(
    trace: str,
    operations: Iterable[Operation],
    variables: Iterable[Variable],
    values: dict[str, bytes],
    new: set[str],
) -> tuple[list[wire.Event], bool]:
    """The events for all new edges, and whether all pairs of variables were compared."""
    nodes = _nodes(operations, variables, values)
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


def _nodes(operations: Iterable[Operation], variables: Iterable[Variable], values: dict[str, bytes]) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for operation in operations:
        said = msgspec.json.decode(operation.attributes).get(OTEL)
        if not isinstance(said, dict) or not isinstance(of_trace := said.get("traceId"), str):
            continue
        parent, deletes = said.get("parentSpanId"), said.get("deletes")
        found[operation.external_id] = Node(
            operation.external_id,
            of_trace,
            operation_name(of_trace, parent) if parent else None,
            frozenset(operation_name(*link) for link in said.get("links", ())),
            (deletes["store"] or "", deletes["id"]) if deletes else None,
            operation.started_at,
        )
    for variable in variables:
        place = name_parts(variable.external_id)
        node = found.get(place.operation) if place else None
        if place is not None and node is not None and variable.created_at is not None:
            attributes = msgspec.json.decode(variable.attributes)
            said = attributes.get(OTEL, {})
            text = variable.value
            if text is None and variable.value_hash in values:
                text = values[variable.value_hash].decode()
            node.values.append(
                Value(
                    variable.external_id,
                    place.side,
                    variable.created_at,
                    None if "content" in said else text,
                    None if "content" in said else variable.value_hash,
                    (said.get("store") or "", said["id"]) if "id" in said else None,
                    said.get("writes") is True,
                    int(variable.external_id.rpartition("/")[2]),
                    attributes.get("score"),
                )
            )
    for node in found.values():
        node.values.sort(key=lambda value: (value.side, value.rank))
    return found
