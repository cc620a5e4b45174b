"""Counting and deleting, for one project."""

from __future__ import annotations

from collections.abc import Sequence

from schema.errors import NotFoundError
from store.answers import Label, Stats
from store.neo4j.connection import Connection
from store.neo4j.read import Reader, parts_of
from store.values import ValueStore

_IN_ORDER = (Label.ATTRIBUTION, Label.FAILURE, Label.VARIABLE, Label.OPERATION, Label.SESSION)


async def count(reader: Reader, values: ValueStore, trace_id: str | None) -> Stats:
    """See ``GraphStore.stats``. A Community server does not say how many bytes its graph takes."""
    traces: list[str] = await reader.items("trace_ids")
    if trace_id is not None:
        traces = [id_ for id_ in traces if id_ == trace_id]
    labels, kinds = await _counts(reader, traces)
    labels[Label.TRACE.value] = len(traces)
    return Stats(labels, kinds, await values.size())


async def delete_attributions(connection: Connection, reader: Reader, ids: Sequence[str]) -> int:
    """See ``GraphStore.delete_attributions``."""
    deleted = 0
    for part in parts_of(sorted(set(ids))):
        ((count,),) = await connection.change("delete_attributions", projectId=reader.project_id, ids=part)
        deleted += count
    return deleted


async def delete_trace(connection: Connection, reader: Reader, values: ValueStore, trace_id: str) -> dict[str, int]:
    """See ``GraphStore.delete_trace``.

    Transactions of 10,000 nodes, then the values, the trace's own node last: what a killed deletion leaves is still
    listed, so that deleting it again finishes it, or importing it again restores it.
    """
    traces = await reader.get(Label.TRACE, [trace_id])
    counted, _ = await _counts(reader, [trace_id])
    counts = {label: number for label, number in counted.items() if number}
    if not traces and not counts:
        raise NotFoundError(trace_id, Label.TRACE)
    for label in _IN_ORDER:
        await connection.run(f"delete_{label.lower()}", projectId=reader.project_id, traceId=trace_id)
    await values.delete(reader.project_id, trace_id)
    await connection.run("delete_trace", projectId=reader.project_id, traceId=trace_id)
    return ({Label.TRACE.value: 1} if traces else {}) | counts


async def _counts(reader: Reader, traces: list[str]) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    labels = {label.value: 0 for label in Label}
    kinds: dict[str, dict[str, int]] = {}
    for label, kind, number in await reader.rows("count", traceIds=traces):
        labels[label] += number
        if kind is not None:
            kinds.setdefault(label, {})[kind] = number
    return labels, kinds
