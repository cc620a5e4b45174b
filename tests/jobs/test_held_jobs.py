"""A runner's acts for the job that it holds: renewing the lease, storing progress, passing on a stop, and the end.

Registry, records and child are stand-ins, because what is tested is which acts follow from what they say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
import structlog

from api.jobs import lease, runner
from api.jobs.arguments import ImportArguments
from api.jobs.lease import Held
from api.jobs.messages import Broken, Done, End, Refused, Stopped, Told
from api.jobs.runner import ATTEMPTS, JobRunner
from api.settings import Settings
from schema.control import Job, JobKind, JobState
from schema.errors import StoreError

UPLOAD = "p/j-1-0a"
JOB = Job(
    "j",
    "p",
    JobKind.IMPORT,
    JobState.RUNNING,
    ImportArguments(upload=UPLOAD, name="a.json").model_dump_json(),
    datetime(2026, 1, 1, tzinfo=UTC),
    "key:1",
    attempts=1,
    owner="me",
)


class Store:
    """Keeps one job, for records and registry."""

    def __init__(self, job: Job = JOB) -> None:
        self.job = job
        self.renewed: list[tuple[str | None, int, int | None]] = []
        self.ended: list[tuple[JobState, str | None, str | None]] = []
        self.deleted: list[str] = []
        self.away = 0
        """How many of the next look-ups and renewals fail."""
        self.is_lost = False

    def records(self, project_id: str) -> Store:
        assert project_id == JOB.project_id
        return self

    def registry(self) -> Store:
        return self

    async def jobs(self, ids: list[str]) -> list[Job]:
        self._ask()
        return [self.job] if ids == [self.job.id] else []

    async def renew_job(
        self, job_id: str, owner: str, until: datetime, stage: str | None, done: int, total: int | None
    ) -> Job | None:
        self._ask()
        self.renewed.append((stage, done, total))
        return None if self.is_lost or owner != self.job.owner else self.job

    async def end_job(
        self, job_id: str, owner: str, state: JobState, at: datetime, result: str | None, error: str | None
    ) -> bool:
        self.ended.append((state, result, error))
        return not self.is_lost

    async def delete(self, name: str) -> None:
        self.deleted.append(name)

    def _ask(self) -> None:
        if self.away:
            self.away -= 1
            raise StoreError("away")


class Child:
    """Does what ``work`` does; counts the requests to stop."""

    def __init__(self, work: Callable[[Child, Callable[[Told], None]], Any]) -> None:
        self._work = work
        self.stops = 0
        self.stopped = asyncio.Event()
        self.is_cancelled = False

    async def run(self, job: Job, tell: Callable[[Told], None]) -> End:
        try:
            end: End = await self._work(self, tell)
        except asyncio.CancelledError:
            self.is_cancelled = True
            raise
        return end

    def stop(self) -> None:
        self.stops += 1
        self.stopped.set()


class Queue:
    """The events of the queue of jobs."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.changes = 0

    def changed(self) -> None:
        self.changes += 1


def held(store: Store, child: Child, seconds: float = 600, queue: Queue | None = None) -> Held:
    parts: Any = store, queue or Queue(), JOB, "me", seconds, child
    return Held(*parts)


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "_LOOK_SECONDS", 0.001)


async def for_ever(child: Child, tell: Callable[[Told], None]) -> End:
    await asyncio.Event().wait()
    raise AssertionError


async def until_stopped(child: Child, tell: Callable[[Told], None]) -> End:
    await child.stopped.wait()
    await asyncio.sleep(0.02)  # further looks may ask again
    return Stopped()


async def test_what_was_told_last_is_stored_before_the_end() -> None:
    async def work(child: Child, tell: Callable[[Told], None]) -> End:
        tell(Told("read", 1, 10))
        tell(Told("write", 9, 0))
        return Done("{}")

    store, queue = Store(), Queue()
    assert await held(store, Child(work), queue=queue).run() == Done("{}")
    assert store.renewed[-1] == ("write", 9, None)
    assert queue.changes == 1


async def test_a_job_that_told_nothing_is_not_renewed_at_its_end() -> None:
    async def work(child: Child, tell: Callable[[Told], None]) -> End:
        return Refused("no")

    store = Store()
    assert await held(store, Child(work)).run() == Refused("no")
    assert store.renewed == []


async def test_a_stop_is_passed_on_once() -> None:
    store, child = Store(replace(JOB, cancel_requested=True)), Child(until_stopped)
    assert await held(store, child).run() == Stopped()
    assert child.stops == 1


@pytest.mark.parametrize("job", [replace(JOB, owner="another"), replace(JOB, id="deleted")])
async def test_work_for_a_job_of_another_runner_is_given_up(job: Job) -> None:
    child = Child(for_ever)
    async with asyncio.timeout(60):
        assert await held(Store(job), child).run() is None
    assert child.is_cancelled


async def test_a_lease_that_is_lost_at_a_renewal_is_given_up() -> None:
    async def work(child: Child, tell: Callable[[Told], None]) -> End:
        tell(Told("read", 1, 10))
        return await for_ever(child, tell)

    store, child = Store(), Child(work)
    store.is_lost = True
    async with asyncio.timeout(60):
        assert await held(store, child).run() is None
    assert child.is_cancelled


@pytest.mark.parametrize(("seconds", "ends"), [(600.0, True), (0.0, False)])
async def test_a_store_that_is_away_is_waited_for_as_long_as_the_lease_lasts(seconds: float, ends: bool) -> None:
    store = Store()
    store.away = 5

    async def work(child: Child, tell: Callable[[Told], None]) -> End:
        while store.away:
            await asyncio.sleep(0)
        return Done("{}")

    child = Child(work if ends else for_ever)
    async with asyncio.timeout(60):
        assert (await held(store, child, seconds).run() is not None) is ends
    assert store.away == (0 if ends else 4)


async def test_an_error_of_the_look_is_not_taken_for_a_lost_lease() -> None:
    class Wrong(Store):
        async def jobs(self, ids: list[str]) -> list[Job]:
            raise ZeroDivisionError

    child = Child(for_ever)
    with pytest.raises(ZeroDivisionError):
        await held(Wrong(), child).run()
    assert child.is_cancelled


def runner_of(store: Store, seconds: int = 600) -> Any:
    parts: Any = Settings(job_lease_seconds=seconds), store, store, Queue()
    return JobRunner(*parts)


FAILED, AGAIN = "something went wrong in the server, 3 times; its log has more under the job's id", JobState.QUEUED


@pytest.mark.parametrize(
    ("end", "attempts", "wanted"),
    [
        (Done('{"a": 1}'), 1, (JobState.DONE, '{"a": 1}', None)),
        (Refused("no such file"), 1, (JobState.FAILED, None, "no such file")),
        (Stopped(), ATTEMPTS, (JobState.CANCELLED, None, None)),
        (Broken(is_store=False), 1, (AGAIN, None, None)),
        (Broken(is_store=True), ATTEMPTS - 1, (AGAIN, None, None)),
        (Broken(is_store=False), ATTEMPTS, (JobState.FAILED, None, FAILED)),
        (
            Broken(is_store=True),
            ATTEMPTS,
            (JobState.FAILED, None, "the store could not be used, 3 times; ask for the job again later"),
        ),
    ],
)
async def test_how_a_job_ends(
    monkeypatch: pytest.MonkeyPatch, end: End, attempts: int, wanted: tuple[JobState, str | None, str | None]
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(runner, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": sleep}))
    store = Store()
    await runner_of(store)._end(replace(JOB, attempts=attempts), end, structlog.get_logger())
    assert store.ended == [wanted]
    assert store.deleted == ([] if wanted[0] is AGAIN else [UPLOAD])
    assert waits == ([2.0**attempts / 2] if wanted[0] is AGAIN else [])


async def test_a_broken_job_waits_less_than_its_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(runner, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": sleep}))
    await runner_of(Store(), 3)._end(replace(JOB, attempts=2), Broken(is_store=False), structlog.get_logger())
    assert waits == [1.0]


async def test_the_file_stays_for_the_runner_that_has_the_job_now() -> None:
    store = Store()
    store.is_lost = True
    await runner_of(store)._end(JOB, Done("{}"), structlog.get_logger())
    assert store.deleted == []


async def test_a_job_of_another_kind_has_no_file() -> None:
    store = Store()
    await runner_of(store)._end(replace(JOB, kind=JobKind.REPORT, arguments="{}"), Done("{}"), structlog.get_logger())
    assert (store.ended, store.deleted) == ([(JobState.DONE, "{}", None)], [])


@pytest.mark.parametrize("state", list(JobState))
async def test_a_file_is_needed_until_its_job_has_ended(state: JobState) -> None:
    one = runner_of(Store(replace(JOB, state=state)))
    assert await one.is_needed("p", "j", UPLOAD) is (state in {JobState.QUEUED, JobState.RUNNING})
    assert not await one.is_needed("p", "j", "p/j-2-0b")
    assert not await one.is_needed("p", "unknown", UPLOAD)


async def test_a_runner_that_stops_gives_its_job_back() -> None:
    store = Store()
    assert await runner_of(store)._give_back(JOB)
    assert store.ended == [(JobState.QUEUED, None, None)]
    store.is_lost = True
    assert not await runner_of(store)._give_back(JOB)


async def test_a_job_that_somebody_stopped_while_it_waited_is_not_begun() -> None:
    store, child = Store(), Child(for_ever)
    one = runner_of(store)
    await one._hold(replace(JOB, cancel_requested=True), child)
    assert store.ended == [(JobState.CANCELLED, None, None)]
    assert one._queue.changes == 2
