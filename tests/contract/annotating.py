"""Queues for tests, and time that passes for a reservation: the store takes the time from the clock alone."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import apsw

from attribution.review.annotation.queues import QueueWish, create_queue
from attribution.review.annotation.work import Bench
from attribution.review.people import Judgement
from schema.annotation import AnnotationQueue
from schema.kinds import ErrorType, VariableKind
from store.contract.protocol import Database, GraphStore
from store.neo4j.database import Neo4jDatabase
from store.sqlite.database import SqliteDatabase
from tests.factory import TraceBuilder

_LATE = timedelta(days=9)


def failing(project: str, count: int, name: str = "failing", **more: Any) -> TraceBuilder:
    """A trace with a number of failures, each with a verdict of the free pass."""
    trace = TraceBuilder(project, name)
    step = trace.operation("step")
    other = trace.operation("other")
    for number in range(count):
        question = trace.variable(f"question {number}", kind=VariableKind.QUERY)
        answer = trace.variable(f"answer {number}", by=step, kind=VariableKind.ANSWER)
        failure = trace.failure(question, answer)
        types = (ErrorType.UPDATE, ErrorType.RETRIEVAL, ErrorType.EXTRACTION)
        trace.attribution(
            failure, "flow", error_type=types[number % 3], operation_id=(step, other)[number % 2].id, **more
        )
    return trace


async def queue_of(database: Database, project: str, **wish: Any) -> AnnotationQueue:
    """A queue of all failures of a project."""
    plain = {"name": "queue", "seed": "seed"}
    return await create_queue(database.project(project), database.records(project), QueueWish(**plain | wish), "boss")


def bench(database: Database, queue: AnnotationQueue, person: str, store: GraphStore | None = None) -> Bench:
    """A person at a queue."""
    project = queue.project_id
    return Bench(store or database.project(project), database.records(project), queue, person)


def says(
    failure_id: str, reason: str = "so", error_type: ErrorType | None = ErrorType.ANNOTATION, **more: Any
) -> Judgement:
    """What a person says of a failure."""
    return Judgement(failure_id, error_type, reason=reason, **more)


async def let_pass(database: Database, queue: AnnotationQueue, person: str) -> None:
    """Let a person's reservations in a queue end."""
    if isinstance(database, Neo4jDatabase):
        text = "MATCH (a:Assignment {queueId: $id, person: $person}) SET a.reservedUntil = a.reservedUntil - $late"
        await database._connection.run_statement(text, id=queue.id, person=person, late=_LATE)
        return
    assert isinstance(database, SqliteDatabase)

    def work(connection: apsw.Connection) -> None:
        text = "UPDATE assignment SET reserved_until = reserved_until - ? WHERE queue_id = ? AND person = ?"
        connection.execute(text, (int(_LATE.total_seconds()) * 1_000_000, queue.id, person))

    await database._connections.write(work)


async def reserved_until(database: Database, queue: AnnotationQueue, person: str) -> datetime:
    """Until when a person has the case that they have."""
    found = await database.records(queue.project_id).assignments(queue.id)
    (until,) = [one.reserved_until for one in found if one.person == person and one.reserved_until]
    return until
