"""The queue as the doors of one process see it: asking, following, stopping. No runner is in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio

from api.auth.access import Access, Principal, ProjectDoor
from api.errors import ForbiddenError
from api.jobs.arguments import AttributeArguments, ImportArguments, ReportArguments
from api.jobs.queue import JobQueue
from schema.control import Job, JobKind, JobState, Role
from schema.errors import InputError, NotFoundError
from store.contract.protocol import Database
from store.open import open_database

pytestmark = pytest.mark.one_engine

OWNER = "a runner"


@pytest.fixture
def project() -> str:
    return f"following-{uuid4().hex}"


def door_of(database: Database, project: str, role: Role = Role.WRITER) -> ProjectDoor:
    return Access(database, Principal("key:test", {project: role}), "request-1").project(project)


@pytest_asyncio.fixture
async def queue(database: Database) -> AsyncIterator[JobQueue]:
    queue = JobQueue(database)
    yield queue
    await queue.close()


async def claim(database: Database, project: str) -> Job:
    now = datetime.now(UTC)
    job = await database.registry().claim_job(OWNER, now, now + timedelta(minutes=5), [project])
    assert job is not None
    return job


async def quiet(queue: JobQueue) -> None:
    """Wait until nobody is looked for any more."""
    async with asyncio.timeout(300):
        while queue.is_looking:
            await asyncio.sleep(0.01)


async def test_what_is_asked_for_is_kept(database: Database, queue: JobQueue, project: str) -> None:
    door = door_of(database, project)
    job = await queue.submit(door, JobKind.REPORT, ReportArguments(source="flow"))
    assert (job.state, job.created_by, job.project_id) == (JobState.QUEUED, "key:test", project)
    assert ReportArguments.model_validate_json(job.arguments).source == "flow"
    assert await door.records.jobs([job.id]) == [job]
    again = await queue.submit(door, JobKind.REPORT, ReportArguments(), job.id)
    assert again == job
    entries = (await door.records.audit()).items
    assert [(entry.action, entry.target, entry.request_id) for entry in entries] == [("report", job.id, "request-1")]
    await queue.cancel(door, job.id)


async def test_what_can_not_be_done_is_not_kept(database: Database, queue: JobQueue, project: str) -> None:
    door, reader = door_of(database, project), door_of(database, project, Role.READER)
    with pytest.raises(ForbiddenError):
        await queue.submit(reader, JobKind.REPORT, ReportArguments())
    with pytest.raises(ForbiddenError):
        await queue.cancel(reader, "0" * 32)
    with pytest.raises(NotFoundError):
        await queue.cancel(door, "0" * 32)
    with pytest.raises(NotFoundError):
        await queue.submit(door, JobKind.ATTRIBUTE, AttributeArguments(trace_id="0" * 32))
    with pytest.raises(InputError, match="time zone"):
        await queue.submit(door, JobKind.IMPORT, ImportArguments(upload="x", name="x", timezone="../../etc/passwd"))
    assert (await door.records.job_page()).items == []
    assert (await door.records.audit()).items == []


async def test_a_job_is_followed_to_its_end(database: Database, queue: JobQueue, project: str) -> None:
    door = door_of(database, project)
    job = await queue.submit(door, JobKind.REPORT, ReportArguments())
    registry = database.registry()
    seen: list[tuple[JobState, int, str | None]] = []

    async def follow() -> None:
        async for state in queue.watch(door, job.id):
            seen.append((state.state, state.done, state.result))
            assert state.lease_until is None
            told.set()

    async def next_change() -> None:
        await told.wait()
        told.clear()

    told = asyncio.Event()
    task = asyncio.create_task(follow())
    await next_change()
    await claim(database, project)
    await next_change()
    later = datetime.now(UTC) + timedelta(minutes=9)
    await registry.renew_job(job.id, OWNER, later, "gather", 3, 7)
    await next_change()
    await registry.renew_job(job.id, OWNER, later + timedelta(minutes=1), "gather", 3, 7)
    await registry.end_job(job.id, OWNER, JobState.DONE, datetime.now(UTC), '{"a":1}', None)
    await task
    expected = [(JobState.QUEUED, 0, None), (JobState.RUNNING, 0, None), (JobState.RUNNING, 3, None)]
    assert seen == [*expected, (JobState.DONE, 3, '{"a":1}')]
    assert [state.state async for state in queue.watch(door, job.id)] == [JobState.DONE]


async def test_many_follow_with_one_look(database: Database, project: str) -> None:
    looks: list[int] = []
    looked = asyncio.Event()

    class Counting:
        """The database, with its reads of jobs counted."""

        def records(self, project_id: str) -> object:
            records = database.records(project_id)

            class Records:
                async def jobs(self, ids: list[str]) -> list[Job]:
                    looks.append(len(ids))
                    looked.set()
                    return await records.jobs(ids)

            return Records()

    queue = JobQueue(Counting())  # type: ignore[arg-type]
    door = door_of(database, project)
    jobs = [await queue.submit(door, JobKind.REPORT, ReportArguments()) for _ in range(5)]

    async def last(job: Job) -> JobState:
        return [state.state async for state in queue.watch(door, job.id)][-1]

    tasks = [asyncio.create_task(last(job)) for job in jobs for _ in range(10)]
    async with asyncio.timeout(300):
        while max(looks, default=0) < len(jobs):
            looked.clear()
            await looked.wait()
    for job in jobs:
        await door.records.cancel_job(job.id, datetime.now(UTC))
    assert await asyncio.gather(*tasks) == [JobState.CANCELLED] * 50
    assert max(looks) == 5
    await quiet(queue)
    await queue.close()


async def test_who_stops_following_is_forgotten(database: Database, queue: JobQueue, project: str) -> None:
    door = door_of(database, project)
    job = await queue.submit(door, JobKind.REPORT, ReportArguments())
    async with aclosing(queue.watch(door, job.id)) as states:
        assert (await anext(states)).state is JobState.QUEUED
        waiting = asyncio.ensure_future(anext(states))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await quiet(queue)
    stranger = door_of(database, f"{project}-other")
    with pytest.raises(NotFoundError):
        await anext(queue.watch(stranger, job.id))
    with pytest.raises(NotFoundError):
        await queue.cancel(stranger, job.id)
    cancelled = await queue.cancel(door, job.id)
    assert cancelled.state is JobState.CANCELLED
    assert "cancelJob" in [entry.action for entry in (await door.records.audit()).items]


async def test_a_store_that_goes_away_ends_the_following(tmp_path: Path) -> None:
    database = await open_database(f"sqlite:///{tmp_path / 'gone.db'}")
    door = door_of(database, "gone")
    queue = JobQueue(database)
    job = await queue.submit(door, JobKind.REPORT, ReportArguments())
    states = queue.watch(door, job.id)
    assert (await anext(states)).state is JobState.QUEUED
    await database.close()
    with pytest.raises(RuntimeError):
        await anext(states)
    await queue.close()
