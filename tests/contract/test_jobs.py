"""Jobs: asked for, claimed, renewed, cancelled, ended.

All projects share one queue, so tests that read the whole queue run one after the other, in this module.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from schema.control import Job, JobKind, JobState, Lease
from schema.errors import NotFoundError
from schema.ids import make_id
from store.contract.protocol import Database
from store.contract.records import ProjectRecords, Registry
from tests.contract.test_pages import all_pages

LONG_AGO = datetime(1971, 1, 1, tzinfo=UTC)
"""Jobs with this time come first in the queue; no lease has run out at this time."""


def at(minutes: int) -> datetime:
    return LONG_AGO + timedelta(minutes=minutes)


def job(project: str, number: int = 0, /, **more: object) -> Job:
    """A queued job; the higher its number, the newer it is."""
    plain = Job(
        id=make_id("job", project, str(number)),
        project_id=project,
        kind=JobKind.IMPORT,
        state=JobState.QUEUED,
        arguments='{"path":"ünï"}',
        created_at=at(number),
        created_by="key:1",
    )
    return replace(plain, **more)  # type: ignore[arg-type]


@pytest.fixture
def registry(database: Database) -> Registry:
    """The queue of the whole database."""
    return database.registry()


@pytest_asyncio.fixture
async def records(database: Database, registry: Registry, project: str) -> AsyncIterator[ProjectRecords]:
    """The project's jobs, none of which stays in the queue."""
    records = database.records(project)
    yield records
    for left in (await records.job_page(1000, state=JobState.QUEUED)).items:
        await records.cancel_job(left.id, at(0))
    for left in (await records.job_page(1000, state=JobState.RUNNING)).items:
        await registry.end_job(left.id, left.owner or "", JobState.CANCELLED, at(0), None, None)


async def claim(registry: Registry, project: str, owner: str, minutes: int, left: Sequence[Lease] = ()) -> Job | None:
    """A job of the project, held for ten minutes."""
    return await registry.claim_job(owner, at(minutes), at(minutes + 10), [project], left)


async def stored(records: ProjectRecords, number: int) -> Job:
    (found,) = await records.jobs([job(records.project_id, number).id])
    return found


@pytest.mark.each_engine
async def test_a_job_comes_back_as_it_was_added(records: ProjectRecords, project: str) -> None:
    full = job(
        project,
        1,
        kind=JobKind.ATTRIBUTE,
        state=JobState.DONE,
        started_at=at(2),
        ended_at=at(3),
        stage="tracing",
        done=7,
        total=9,
        result='{"n":1}',
        error="it went wrong",
        attempts=3,
        cancel_requested=True,
        owner="runner",
        lease_until=at(4),
    )
    assert await records.add_job(job(project)) == job(project)
    assert await records.add_job(full) == full
    assert await records.jobs([full.id, "x", "", job(project).id, full.id]) == [full, job(project), full]
    assert await records.jobs([]) == []


async def test_a_job_that_is_added_again_is_the_stored_one(
    records: ProjectRecords, registry: Registry, project: str
) -> None:
    await records.add_job(job(project))
    running = await claim(registry, project, "one", 1)
    assert await records.add_job(job(project, arguments="{}")) == running


@pytest.mark.each_engine
async def test_jobs_of_one_kind_and_state(records: ProjectRecords, project: str) -> None:
    kinds, states = list(JobKind), [JobState.DONE, JobState.FAILED]
    jobs = [job(project, number, kind=kinds[number % 3], state=states[number % 2]) for number in range(12)]
    for one in jobs:
        await records.add_job(one)
    for kind in (None, *kinds):
        for state in (None, *JobState):
            expected = [one for one in jobs[::-1] if kind in {None, one.kind} and state in {None, one.state}]
            for first in (1, 100):
                found = await all_pages(
                    lambda after, n=first, k=kind, s=state: records.job_page(n, after, k, s),  # type: ignore[misc]
                    first,
                )
                assert found == expected


@pytest.mark.each_engine
async def test_the_oldest_job_is_claimed_first(records: ProjectRecords, registry: Registry, project: str) -> None:
    for number in (2, 0, 1):
        await records.add_job(job(project, number))
    for number in range(3):
        expected = replace(
            job(project, number),
            state=JobState.RUNNING,
            owner="one",
            lease_until=at(20 + number),
            started_at=at(10 + number),
            attempts=1,
        )
        assert await claim(registry, project, "one", 10 + number) == expected
        assert await stored(records, number) == expected
    assert await claim(registry, project, "one", 15) is None


@pytest.mark.each_engine
async def test_a_job_that_was_left_is_claimed_again(records: ProjectRecords, registry: Registry, project: str) -> None:
    await records.add_job(job(project))
    first = await claim(registry, project, "one", 1)
    assert first is not None
    left = await registry.leases([project])
    assert left == [Lease(first.id, "one", at(11))]
    assert await claim(registry, project, "two", 10_000_000) is None  # whatever the clock says
    second = await claim(registry, project, "two", 11, left)
    assert second == replace(first, owner="two", lease_until=at(21), attempts=2)
    assert await claim(registry, project, "three", 31, left) is None
    assert await registry.renew_job(first.id, "one", at(90), "late", 1, None) is None
    assert await registry.end_job(first.id, "one", JobState.DONE, at(12), "{}", None) is False
    assert await stored(records, 0) == second


@pytest.mark.each_engine
async def test_leases_of_some_projects(
    records: ProjectRecords, registry: Registry, database: Database, project: str
) -> None:
    other = database.records(f"{project}-other")
    await records.add_job(job(project))
    await other.add_job(job(other.project_id))
    assert await registry.leases([project, other.project_id]) == []
    claimed = [await claim(registry, one, "one", 1) for one in (project, other.project_id)]
    mine, others = (Lease(found.id, "one", at(11)) for found in claimed if found)
    assert await registry.leases([project]) == [mine]
    assert await registry.leases([project[:-1], ""]) == []
    assert {mine, others} <= set(await registry.leases())
    assert await registry.end_job(others.job_id, "one", JobState.DONE, at(2), None, None)
    assert await registry.leases([project, other.project_id]) == [mine]


async def test_jobs_of_some_projects_are_claimed(
    records: ProjectRecords, registry: Registry, database: Database, project: str
) -> None:
    others = [database.records(f"{project}-{number}") for number in range(2)]
    await records.add_job(job(project, 1))
    for number, other in enumerate(others):
        await other.add_job(job(other.project_id, -number))
    assert await registry.claim_job("one", at(1), at(2), ["nobody", "", project[:-1]]) is None
    wanted = [project, others[0].project_id]
    claimed = [await registry.claim_job("one", at(1), at(2), wanted) for _ in range(3)]
    assert [one and one.project_id for one in claimed] == [others[0].project_id, project, None]
    await records.add_job(job(project, 7))
    assert await registry.claim_job("one", at(1), at(2), wanted, without=[project, "nobody"]) is None
    again = await registry.claim_job("one", at(1), at(2), wanted, without=[others[0].project_id])
    assert again is not None
    claimed.append(again)
    # Without a filter the oldest job is next; no other test makes so old jobs.
    last = await registry.claim_job("one", at(1), at(1))
    assert last is not None
    assert last.project_id == others[1].project_id
    for one in (*claimed, last):
        assert one is None or await registry.end_job(one.id, "one", JobState.DONE, at(2), None, None)


@pytest.mark.each_engine
async def test_a_lease_that_is_renewed_holds(records: ProjectRecords, registry: Registry, project: str) -> None:
    await records.add_job(job(project))
    first = await claim(registry, project, "one", 1)
    assert first is not None
    seen = await registry.leases([project])
    renewed = replace(first, lease_until=at(30), stage="reading", done=3, total=8)
    assert await registry.renew_job(first.id, "one", at(30), "reading", 3, 8) == renewed
    assert await claim(registry, project, "two", 29, seen) is None
    # A clock that was set back in between.
    assert await registry.renew_job(first.id, "one", at(5), None, 4, None) == replace(
        renewed, lease_until=at(5), stage=None, done=4, total=None
    )
    assert await claim(registry, project, "two", 29, seen) is None
    for id_, owner in ((first.id, "two"), ("x", "one"), ("", "")):
        assert await registry.renew_job(id_, owner, at(40), None, 0, None) is None
    assert await claim(registry, project, "two", 31, await registry.leases([project])) is not None


@pytest.mark.each_engine
@pytest.mark.parametrize("state", [JobState.DONE, JobState.FAILED, JobState.CANCELLED])
async def test_a_job_ends_once(records: ProjectRecords, registry: Registry, project: str, state: JobState) -> None:
    await records.add_job(job(project))
    running = await claim(registry, project, "one", 1)
    assert running is not None
    assert await registry.end_job(running.id, "two", state, at(2), "{}", None) is False
    with pytest.raises(ValueError, match="running"):
        await registry.end_job(running.id, "one", JobState.RUNNING, at(2), None, None)
    assert await stored(records, 0) == running
    assert await registry.end_job(running.id, "one", state, at(3), '{"n":1}', "a reason") is True
    ended = replace(
        running, state=state, ended_at=at(3), result='{"n":1}', error="a reason", owner=None, lease_until=None
    )
    assert await stored(records, 0) == ended
    assert await registry.end_job(running.id, "one", JobState.FAILED, at(4), None, None) is False
    assert await registry.renew_job(running.id, "one", at(50), None, 0, None) is None
    assert await records.cancel_job(running.id, at(5)) == ended
    assert await claim(registry, project, "two", 60) is None
    assert await stored(records, 0) == ended


async def test_a_job_that_is_given_back_is_gone_on_with(
    records: ProjectRecords, registry: Registry, project: str
) -> None:
    await records.add_job(job(project))
    first = await claim(registry, project, "one", 1)
    assert first is not None
    assert await registry.end_job(first.id, "one", JobState.QUEUED, at(2), None, "the runner stopped") is True
    waiting = replace(first, state=JobState.QUEUED, owner=None, lease_until=None, error="the runner stopped")
    assert await stored(records, 0) == waiting
    assert await claim(registry, project, "two", 3) == replace(
        waiting, state=JobState.RUNNING, owner="two", lease_until=at(13), attempts=2
    )


@pytest.mark.each_engine
async def test_a_queued_job_is_cancelled_at_once(records: ProjectRecords, registry: Registry, project: str) -> None:
    await records.add_job(job(project))
    cancelled = replace(job(project), state=JobState.CANCELLED, ended_at=at(1), cancel_requested=True)
    assert await records.cancel_job(cancelled.id, at(1)) == cancelled
    assert await records.cancel_job(cancelled.id, at(2)) == cancelled
    assert await claim(registry, project, "one", 3) is None
    assert await stored(records, 0) == cancelled
    for absent in ("", "x", cancelled.id[:8]):
        with pytest.raises(NotFoundError):
            await records.cancel_job(absent, at(4))


@pytest.mark.each_engine
async def test_a_running_job_is_asked_to_stop(records: ProjectRecords, registry: Registry, project: str) -> None:
    await records.add_job(job(project))
    running = await claim(registry, project, "one", 1)
    assert running is not None
    asked = replace(running, cancel_requested=True)
    assert await records.cancel_job(running.id, at(2)) == asked
    assert await records.cancel_job(running.id, at(3)) == asked
    assert await registry.renew_job(running.id, "one", at(11), None, 0, None) == asked
    left = await claim(registry, project, "two", 11, await registry.leases([project]))
    assert left == replace(asked, owner="two", lease_until=at(21), attempts=2)
    assert await registry.end_job(running.id, "two", JobState.QUEUED, at(12), None, None) is True
    found = await stored(records, 0)
    assert (found.state, found.ended_at, found.owner) == (JobState.CANCELLED, at(12), None)


@pytest.mark.each_engine
async def test_how_the_queue_stands(records: ProjectRecords, registry: Registry, project: str) -> None:
    for attempt in range(20):  # other tests share the queue: what they change in the meantime is counted too
        first = 10 * attempt
        before = await registry.queue()
        assert set(before.jobs) == set(JobState)
        for number, state in enumerate([JobState.DONE, JobState.FAILED, JobState.DONE], first):
            await records.add_job(job(project, number, state=state))
        for number in (-8, -9, -7):  # older than any job of other tests
            await records.add_job(job(project, number - first))
        after = await registry.queue()
        added = {state: after.jobs[state] - before.jobs[state] for state in JobState}
        if added == dict.fromkeys(JobState, 0) | {JobState.DONE: 2, JobState.FAILED: 1, JobState.QUEUED: 3}:
            break
    else:
        pytest.fail(f"not once was the difference what was added, at last {added}")
    assert after.oldest_queued == at(-9 - first)
    await claim(registry, project, "one", 10)
    assert (await registry.queue()).oldest_queued == at(-8 - first)
