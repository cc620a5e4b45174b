"""Annotation queues in Neo4j."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import neo4j
from typing_extensions import override

from schema.annotation import AnnotationQueue, Assignment
from schema.control import AuditEntry
from schema.errors import NotFoundError
from store.contract.annotations import Annotations, ToJudge, taken, to_judge_of
from store.contract.answers import Page
from store.contract.assigning import Bench, Decide, Decision
from store.neo4j.connection import Connection, Read, run_text
from store.neo4j.rows import entry_row, record_of, row_of
from store.shared.record_rows import ASSIGNMENTS, QUEUES, read_cursor

Transaction = neo4j.AsyncManagedTransaction


class Neo4jAnnotations(Annotations):
    """The annotation queues of one project."""

    _connection: Connection
    _project_id: str

    @override
    async def add_queue(self, queue: AnnotationQueue, entry: AuditEntry | None = None) -> AnnotationQueue:
        QUEUES.check_project(queue, self._project_id)
        entries = self._entries(entry)

        async def work(transaction: Transaction) -> AnnotationQueue:
            result = await run_text(
                transaction, "write_annotation_queue", projectId=self._project_id, rows=[row_of(QUEUES, queue)]
            )
            if not (await result.consume()).counters.nodes_created:
                raise taken(queue)
            await self._run(transaction, "write_audit_entry", rows=entries)
            return queue

        return await self._connection.write(work)

    @override
    async def queue_page(self, first: int = 100, after: str | None = None) -> Page[AnnotationQueue]:
        at, last = read_cursor(after)
        rows = await self._connection.read_list(
            "page_annotation_queue", projectId=self._project_id, at=at, last=last, count=first + 1
        )
        return QUEUES.page([record_of(QUEUES, row) for row in rows], first)

    @override
    async def annotation_queue(self, queue_id: str) -> AnnotationQueue:
        rows = await self._connection.read_list("get_annotation_queue", projectId=self._project_id, id=queue_id)
        return self._queue(rows, queue_id)

    @override
    async def close_queue(self, queue_id: str, by: str, entry: AuditEntry | None = None) -> AnnotationQueue:
        entries = self._entries(entry)

        async def work(transaction: Transaction) -> AnnotationQueue:
            rows = await self._run(transaction, "close_annotation_queue", id=queue_id, by=by)
            queue = self._queue(rows, queue_id)
            await self._run(transaction, "write_audit_entry", rows=entries)
            return queue

        return await self._connection.write(work)

    @override
    async def delete_queue(self, queue_id: str, entry: AuditEntry | None = None) -> AnnotationQueue:
        entries = self._entries(entry)

        async def work(transaction: Transaction) -> AnnotationQueue:
            await self._run(transaction, "lock_annotation_queue", id=queue_id)
            queue = self._queue(await self._run(transaction, "get_annotation_queue", id=queue_id), queue_id)
            await self._run(transaction, "delete_assignments", id=queue_id)
            await self._run(transaction, "delete_annotation_queue", id=queue_id)
            await self._run(transaction, "write_audit_entry", rows=entries)
            return queue

        return await self._connection.write(work)

    @override
    async def clock(self) -> datetime:
        ((now,),) = await self._connection.read("annotation_now")
        return _native(now)

    @override
    async def assignments(self, queue_id: str) -> list[Assignment]:
        rows = await self._connection.read_list("assignments", projectId=self._project_id, id=queue_id)
        return _assignments(rows)

    @override
    async def assign(self, queue_id: str, decide: Decide, entry: AuditEntry | None = None) -> Decision:
        entries = self._entries(entry)

        async def work(transaction: Transaction) -> Decision:
            await self._run(transaction, "lock_annotation_queue", id=queue_id)
            queue = self._queue(await self._run(transaction, "get_annotation_queue", id=queue_id), queue_id)
            assigned = _assignments(await self._run(transaction, "assignments", id=queue_id))
            ((clock,),) = await (await run_text(transaction, "annotation_now")).values()
            found = decide(Bench.at(queue, assigned, _native(clock)))
            if found.assignment is not None:
                await self._run(transaction, "write_assignment", rows=[row_of(ASSIGNMENTS, found.assignment)])
                await self._run(transaction, "write_audit_entry", rows=entries)
            return found

        return await self._connection.write(work)

    @override
    async def to_judge(self, person: str) -> list[ToJudge]:

        async def work(read: Read) -> list[ToJudge]:
            of = {"projectId": self._project_id, "person": person}
            ((rows,),) = await read("assignments_of_person", **of)
            own = _assignments(rows)
            ((queues,),) = await read("annotation_queues_of_person", **of, ids=sorted({one.queue_id for one in own}))
            return to_judge_of((record_of(QUEUES, row) for row in queues), own)

        return await self._connection.read_together(work)

    def _entries(self, entry: AuditEntry | None) -> list[dict[str, Any]]:
        return [] if entry is None else [entry_row(entry, self._project_id)]

    async def _run(self, transaction: Transaction, name: str, /, **parameters: Any) -> list[Any]:
        """The list in the first row of a text; empty without a row."""
        result = await run_text(transaction, name, projectId=self._project_id, **parameters)
        rows = await result.values()
        return rows[0][0] if rows and isinstance(rows[0][0], list) else []

    def _queue(self, rows: list[Any], queue_id: str) -> AnnotationQueue:
        if not rows:
            raise NotFoundError(queue_id, "queue")
        return record_of(QUEUES, rows[0])


def _assignments(rows: list[Any]) -> list[Assignment]:
    found = [record_of(ASSIGNMENTS, row) for row in rows]
    return sorted(found, key=lambda one: (one.person, one.failure_id))


def _native(clock: Any) -> datetime:
    now: datetime = clock.to_native()
    return now
