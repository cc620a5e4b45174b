"""Annotation queues in a SQLite file."""

from __future__ import annotations

import json
from datetime import datetime

import apsw
from typing_extensions import override

from schema.annotation import AnnotationQueue, Assignment
from schema.control import AuditEntry
from schema.errors import NotFoundError
from schema.times import from_microseconds, to_microseconds
from store.contract.annotations import Annotations, ToJudge, taken, to_judge_of
from store.contract.answers import Page
from store.contract.assigning import Bench, Decide, Decision
from store.shared.record_rows import ASSIGNMENTS, QUEUES, read_cursor
from store.sqlite.connections import Connections
from store.sqlite.context import ReadContext, check_entry, insert_entries
from store.sqlite.queries import Table, sql


class SqliteAnnotations(Annotations):
    """The annotation queues of one project."""

    _connections: Connections
    _project_id: str

    @override
    async def add_queue(self, queue: AnnotationQueue, entry: AuditEntry | None = None) -> AnnotationQueue:
        QUEUES.check_project(queue, self._project_id)
        check_entry(entry, self._project_id)

        def work(connection: apsw.Connection) -> AnnotationQueue:
            connection.execute(sql("tables.insert_new", Table.QUEUE), QUEUES.values(queue))
            if not connection.changes():
                raise taken(queue)
            insert_entries(connection, [entry])
            return queue

        return await self._connections.write(work)

    @override
    async def queue_page(self, first: int = 100, after: str | None = None) -> Page[AnnotationQueue]:
        at, last = read_cursor(after)

        def work(connection: apsw.Connection) -> Page[AnnotationQueue]:
            context = ReadContext(connection, self._project_id)
            place = to_microseconds(at)
            rows = context.rows("records.page", Table.QUEUE, place=place, last=last, count=first + 1)
            return QUEUES.page([QUEUES.read(row) for row in rows], first)

        return await self._connections.read(work)

    @override
    async def annotation_queue(self, queue_id: str) -> AnnotationQueue:
        return await self._connections.read(lambda connection: self._queue(connection, queue_id))

    @override
    async def close_queue(self, queue_id: str, by: str, entry: AuditEntry | None = None) -> AnnotationQueue:
        check_entry(entry, self._project_id)

        def work(connection: apsw.Connection) -> AnnotationQueue:
            ReadContext(connection, self._project_id).rows("annotation.close", id=queue_id, by=by)
            queue = self._queue(connection, queue_id)
            insert_entries(connection, [entry])
            return queue

        return await self._connections.write(work)

    @override
    async def delete_queue(self, queue_id: str, entry: AuditEntry | None = None) -> AnnotationQueue:
        check_entry(entry, self._project_id)

        def work(connection: apsw.Connection) -> AnnotationQueue:
            queue, context = self._queue(connection, queue_id), ReadContext(connection, self._project_id)
            context.rows("annotation.delete_assignments", id=queue_id)
            context.rows("annotation.delete", id=queue_id)
            insert_entries(connection, [entry])
            return queue

        return await self._connections.write(work)

    @override
    async def clock(self) -> datetime:
        return await self._connections.read(_now)

    @override
    async def assignments(self, queue_id: str) -> list[Assignment]:
        return await self._connections.read(lambda connection: self._assignments(connection, queue_id))

    @override
    async def assign(self, queue_id: str, decide: Decide, entry: AuditEntry | None = None) -> Decision:
        check_entry(entry, self._project_id)

        def work(connection: apsw.Connection) -> Decision:
            queue = self._queue(connection, queue_id)
            found = decide(Bench.at(queue, self._assignments(connection, queue_id), _now(connection)))
            if found.assignment is not None:
                connection.execute(sql("annotation.assign", Table.ASSIGNMENT), ASSIGNMENTS.values(found.assignment))
                insert_entries(connection, [entry])
            return found

        return await self._connections.write(work)

    @override
    async def to_judge(self, person: str) -> list[ToJudge]:

        def work(connection: apsw.Connection) -> list[ToJudge]:
            context = ReadContext(connection, self._project_id)
            rows = context.rows("annotation.assignments_of_person", Table.ASSIGNMENT, person=person)
            own = [ASSIGNMENTS.read(row) for row in rows]
            ids = json.dumps(sorted({one.queue_id for one in own}))
            queues = context.rows("annotation.of_person", Table.QUEUE, person=person, ids=ids)
            return to_judge_of((QUEUES.read(row) for row in queues), own)

        return await self._connections.read(work)

    def _queue(self, connection: apsw.Connection, queue_id: str) -> AnnotationQueue:
        for row in ReadContext(connection, self._project_id).rows("records.get", Table.QUEUE, id=queue_id):
            return QUEUES.read(row)
        raise NotFoundError(queue_id, "queue")

    def _assignments(self, connection: apsw.Connection, queue_id: str) -> list[Assignment]:
        rows = ReadContext(connection, self._project_id).rows("annotation.assignments", Table.ASSIGNMENT, id=queue_id)
        return [ASSIGNMENTS.read(row) for row in rows]


def _now(connection: apsw.Connection) -> datetime:
    now = from_microseconds(connection.execute(sql("annotation.now")).get)
    assert isinstance(now, datetime)
    return now
