"""Counting and deleting, for one project."""

from __future__ import annotations

from collections.abc import Sequence

import neo4j

from schema.control import AuditEntry
from schema.errors import NotFoundError
from schema.texts import cypher
from store.answers import Label, Stats
from store.auditing import begun
from store.neo4j.connection import Connection
from store.neo4j.read import Reader, parts_of
from store.neo4j.records import Neo4jRecords, entry_row
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


async def delete_attributions(
    connection: Connection, reader: Reader, ids: Sequence[str], entry: AuditEntry | None
) -> int:
    """See ``GraphStore.delete_attributions``; all in one transaction, which also writes the entry."""
    project = reader.project_id
    entries = [] if entry is None else [entry_row(entry, project)]

    async def work(transaction: neo4j.AsyncManagedTransaction) -> int:
        deleted = 0
        for part in parts_of(sorted(set(ids))):
            result = await transaction.run(cypher("delete_attributions"), projectId=project, ids=part)
            ((count,),) = await result.values()
            deleted += count
        if deleted and entries:
            await (await transaction.run(cypher("write_audit_entry"), projectId=project, rows=entries)).consume()
        return deleted

    return await connection.write(work)


async def delete_trace(
    connection: Connection, reader: Reader, values: ValueStore, trace_id: str, entry: AuditEntry | None
) -> None:
    """See ``GraphStore.delete_trace``.

    Transactions of 10,000 nodes, then the values, the trace's own node last: what a killed deletion leaves is still
    listed, so that deleting it again finishes it, or importing it again restores it. The entry is there before the
    first transaction, and the last one says that all is done.
    """
    project = reader.project_id
    rows = [] if entry is None else [entry_row(entry, project)]

    async def last(transaction: neo4j.AsyncManagedTransaction) -> None:
        await (await transaction.run(cypher("delete_trace"), projectId=project, traceId=trace_id)).consume()
        await (await transaction.run(cypher("settle_audit_entry"), projectId=project, rows=rows)).consume()

    async with begun(Neo4jRecords(connection, project), entry):
        for label in _IN_ORDER:
            await connection.run(f"delete_{label.lower()}", projectId=project, traceId=trace_id)
        await values.delete(project, trace_id)
        await connection.write(last)


async def counts_of(reader: Reader, trace_id: str) -> dict[str, int]:
    """How many elements of each label a trace has; one whose deletion was cut short may have lost its own node.

    Raises:
        NotFoundError: there is nothing of it.
    """
    traces = await reader.get(Label.TRACE, [trace_id])
    counted, _ = await _counts(reader, [trace_id])
    counts = {label: number for label, number in counted.items() if number}
    if not traces and not counts:
        raise NotFoundError(trace_id, Label.TRACE)
    return ({Label.TRACE.value: 1} if traces else {}) | counts


async def _counts(reader: Reader, traces: list[str]) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    labels = {label.value: 0 for label in Label}
    kinds: dict[str, dict[str, int]] = {}
    for label, kind, number in await reader.rows("count", traceIds=traces):
        labels[label] += number
        if kind is not None:
            kinds.setdefault(label, {})[kind] = number
    return labels, kinds
