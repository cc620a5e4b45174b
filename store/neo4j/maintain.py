"""Counts and deletions in one project."""

from __future__ import annotations

from collections.abc import Sequence

import neo4j

from schema.control import AuditEntry
from schema.errors import NotFoundError
from store.contract.answers import Label, Stats
from store.neo4j.connection import Connection, run_text
from store.neo4j.read import Reader, parts_of
from store.neo4j.records import Neo4jRecords
from store.neo4j.rows import entry_row
from store.neo4j.verdict_changes import keep_withdrawn
from store.shared.auditing import begun
from store.values.contract import ValueStore

_DELETED = {
    Label.ATTRIBUTION: "delete_of_trace",
    Label.FAILURE: "delete_of_trace",
    Label.VARIABLE: "delete_in_order",
    Label.OPERATION: "delete_in_order",
    Label.SESSION: "delete_in_order",
}
"""The texts that delete the elements of a trace, in the order of the deletions."""


async def count(reader: Reader, values: ValueStore, trace_id: str | None) -> Stats:
    """Counts by label and by kind, and the size of the values; a Community server does not tell the size of a graph."""
    traces: list[str] = await reader.items("trace_ids")
    if trace_id is not None:
        traces = [id_ for id_ in traces if id_ == trace_id]
    labels, kinds, right = await _counts(reader, traces)
    labels[Label.TRACE.value] = len(traces)
    return Stats(labels, kinds, await values.size(), right_answers=right)


async def delete_attributions(
    connection: Connection, reader: Reader, ids: Sequence[str], entry: AuditEntry | None, by: str | None
) -> int:
    """Delete verdicts and write the entry, in one transaction; returns how many verdicts existed.

    The history keeps people's verdicts as withdrawn.
    """
    project = reader.project_id
    entries = [] if entry is None else [entry_row(entry, project)]

    async def work(transaction: neo4j.AsyncManagedTransaction) -> int:
        deleted = 0
        for part in parts_of(sorted(set(ids))):
            await keep_withdrawn(transaction, project, part, by)
            result = await run_text(transaction, "delete_attributions", projectId=project, ids=part)
            ((count,),) = await result.values()
            deleted += count
        if deleted and entries:
            await (await run_text(transaction, "write_audit_entry", projectId=project, rows=entries)).consume()
        return deleted

    return await connection.write(work)


async def delete_failure(
    connection: Connection, reader: Reader, failure_id: str, entry: AuditEntry | None
) -> dict[str, int]:
    """Delete a failure with its verdicts and write the entry, in one transaction; returns counts by label.

    Raises:
        NotFoundError: the project has no failure with this id.
    """
    project = reader.project_id
    entries = [] if entry is None else [entry_row(entry, project)]

    async def work(transaction: neo4j.AsyncManagedTransaction) -> dict[str, int]:
        result = await run_text(transaction, "delete_failure", projectId=project, id=failure_id)
        counted = await result.values()
        if not counted:
            raise NotFoundError(failure_id, Label.FAILURE.value)
        await (await run_text(transaction, "delete_changes_of_failure", projectId=project, id=failure_id)).consume()
        await (await run_text(transaction, "write_audit_entry", projectId=project, rows=entries)).consume()
        ((verdicts,),) = counted
        return {Label.FAILURE.value: 1} | ({Label.ATTRIBUTION.value: verdicts} if verdicts else {})

    return await connection.write(work)


async def delete_trace(
    connection: Connection, reader: Reader, values: ValueStore, trace_id: str, entry: AuditEntry | None
) -> None:
    """Delete a trace with all its elements and values.

    Nodes are deleted in transactions of 10,000, then the values, and the trace's own node last. So a killed deletion
    leaves the trace listed: deleting again finishes the deletion, importing again restores the trace. The audit entry
    is written before the first transaction, and its outcome in the last.
    """
    project = reader.project_id
    rows = [] if entry is None else [entry_row(entry, project)]

    async def last(transaction: neo4j.AsyncManagedTransaction) -> None:
        await (await run_text(transaction, "delete_trace", projectId=project, traceId=trace_id)).consume()
        await (await run_text(transaction, "settle_audit_entry", projectId=project, rows=rows)).consume()

    async with begun(Neo4jRecords(connection, project), entry):
        for label, name in _DELETED.items():
            await connection.run(name, label, projectId=project, traceId=trace_id)
        await connection.run("delete_verdict_changes", projectId=project, traceId=trace_id)
        await values.delete(project, trace_id)
        await connection.write(last)


async def counts_of(reader: Reader, trace_id: str) -> dict[str, int]:
    """Counts by label of a trace, also if a write or a deletion was interrupted and the trace's own node is missing.

    Raises:
        NotFoundError: the project has nothing of this trace.
    """
    traces = await reader.get(Label.TRACE, [trace_id])
    counted, *_ = await _counts(reader, [trace_id])
    counts = {label: number for label, number in counted.items() if number}
    if not traces and not counts:
        raise NotFoundError(trace_id, Label.TRACE)
    return ({Label.TRACE.value: 1} if traces else {}) | counts


async def _counts(reader: Reader, traces: list[str]) -> tuple[dict[str, int], dict[str, dict[str, int]], int]:
    """Numbers of elements by label and by kind, and the number of right answers."""
    right_answers = 0
    labels = {label.value: 0 for label in Label}
    kinds: dict[str, dict[str, int]] = {}
    for label, kind, number, right in await reader.rows("count", traceIds=traces):
        labels[label] += number
        right_answers += right
        if kind is not None:
            kinds.setdefault(label, {})[kind] = number
    return labels, kinds, right_answers
