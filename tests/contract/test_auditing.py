"""A change and its entry in the audit log: both or neither, and where that can't be, the entry first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from schema.control import BEGUN, AuditEntry, JobState
from schema.errors import InputError, MemTraceError, NotFoundError, StoreError
from schema.models import Batch
from store.contract.answers import Label
from store.contract.assigning import give_next
from store.contract.protocol import Database, GraphStore
from store.contract.records import ProjectRecords
from store.neo4j.database import Neo4jDatabase
from store.retention import apply
from store.retention import policy as new_policy
from tests.contract.annotating import failing, queue_of
from tests.contract.samples import assistant
from tests.contract.test_records import entry, job, key
from tests.contract.test_retention import aged, policy
from tests.factory import TraceBuilder, moment

Act = Callable[[Database, TraceBuilder, AuditEntry], Awaitable[object]]


def _store(database: Database, trace: TraceBuilder) -> GraphStore:
    return database.project(trace.project)


def _records(database: Database, trace: TraceBuilder) -> ProjectRecords:
    return database.records(trace.project)


async def _said(database: Database, trace: TraceBuilder, told: AuditEntry) -> object:
    verdict = replace(trace.attributions[0], reason="said again")
    return await _store(database, trace).write(Batch(trace.trace, attributions=[verdict]), entry=told)


ACTS: dict[str, Act] = {
    "add_key": lambda d, t, e: _records(d, t).add_key(key(t.project, 1), e),
    "revoke_key": lambda d, t, e: _records(d, t).revoke_key(key(t.project).id, moment(9), e),
    "add_job": lambda d, t, e: _records(d, t).add_job(job(t.project, 1), e),
    "cancel_job": lambda d, t, e: _records(d, t).cancel_job(job(t.project).id, moment(9), e),
    "set_retention": lambda d, t, e: _records(d, t).set_retention(policy(t.project, 7), e),
    "clear_retention": lambda d, t, e: _records(d, t).clear_retention(e),
    "write": _said,
    "delete_attributions": lambda d, t, e: _store(d, t).delete_attributions([t.attributions[0].id], e),
    "delete_failure": lambda d, t, e: _store(d, t).delete_failure(t.failures[0].id, e),
    "delete_trace": lambda d, t, e: _store(d, t).delete_trace(t.trace.id, e),
}


async def _world(database: Database, project: str) -> TraceBuilder:
    """A project in which each of the acts changes something."""
    trace = assistant(project)
    await trace.write(database.project(project))
    records = database.records(project)
    await records.add_key(key(project))
    await records.add_job(replace(job(project), state=JobState.QUEUED))
    await records.set_retention(policy(project))
    return trace


async def _state(database: Database, trace: TraceBuilder) -> list[Any]:
    store, records = _store(database, trace), _records(database, trace)
    kept = [await records.keys(), await records.job_page(), await records.retention()]
    return [*kept, await store.attributions([failure.id for failure in trace.failures]), await store.stats()]


@pytest.mark.values
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.each_engine if one in ("write", "delete_trace") else ()) for one in ACTS],
)
async def test_a_change_has_an_entry(database: Database, project: str, name: str) -> None:
    trace = await _world(database, project)
    before = await _state(database, trace)
    told = entry(project)
    await ACTS[name](database, trace, told)
    assert await _state(database, trace) != before
    assert (await _records(database, trace).audit()).items == [told]


@pytest.mark.once
@pytest.mark.parametrize("name", ACTS)
async def test_without_its_entry_nothing_is_changed(database: Database, project: str, name: str) -> None:
    """The database itself can't take the entry: the change that was made before it in the transaction goes too."""
    trace = await _world(database, project)
    before = await _state(database, trace)
    for wrong in (entry(project, actor="key:\ud800"), entry(f"{project}-other")):
        with pytest.raises((InputError, UnicodeEncodeError)):
            await ACTS[name](database, trace, wrong)
    assert await _state(database, trace) == before
    assert (await _records(database, trace).audit()).items == []


@pytest.mark.parametrize("name", ["revoke_key", "cancel_job", "delete_failure", "delete_trace"])
async def test_what_is_not_there_has_no_entry(database: Database, project: str, name: str) -> None:
    with pytest.raises(NotFoundError):
        await ACTS[name](database, assistant(project), entry(project))
    assert (await database.records(project).audit()).items == []


async def test_what_changes_nothing_has_no_entry(database: Database, project: str) -> None:
    trace = await _world(database, project)
    store, records = _store(database, trace), _records(database, trace)
    await records.add_key(key(project), entry(project))
    await records.add_job(replace(job(project), state=JobState.QUEUED), entry(project))
    await records.clear_retention()
    assert not await records.clear_retention(entry(project))
    assert await store.delete_attributions(["0" * 32], entry(project)) == 0
    assert (await records.audit()).items == []


@pytest.mark.each_engine
async def test_an_assignment_has_an_entry_and_without_one_there_is_none(database: Database, project: str) -> None:
    await failing(project, 1).write(database.project(project))
    queue = await queue_of(database, project, people=("Ada", "Ben"), annotators=1)
    records = database.records(project)
    before = (await records.audit()).items
    told = entry(project, 1)
    given = await records.assign(queue.id, give_next("Ada"), told)
    assert given.assignment is not None
    expected = sorted([told, *before], key=lambda one: one.at, reverse=True)
    assert sorted((await records.audit()).items, key=lambda one: one.at, reverse=True) == expected
    nothing = await records.assign(queue.id, give_next("Ben"), entry(project, 2))
    assert nothing.assignment is None
    assert sorted((await records.audit()).items, key=lambda one: one.at, reverse=True) == expected
    with pytest.raises((InputError, UnicodeEncodeError)):
        await records.assign(queue.id, give_next("Ada"), entry(f"{project}-other"))
    assert await records.assignments(queue.id) == [given.assignment]


@pytest.mark.once
@pytest.mark.parametrize("name", ACTS)
async def test_an_act_that_is_cancelled_at_any_moment_has_an_entry_or_was_not_done(
    database: Database, project: str, name: str
) -> None:
    # A server answers after so many steps that a few tell the moments apart,.
    moments = (0, 2, 8, 40) if isinstance(database, Neo4jDatabase) else (0, 1, 2, 3, 5, 8, 13, 40)
    for number, steps in enumerate(moments):
        trace = await _world(database, f"{project}-{number}")
        before = await _state(database, trace)
        told = entry(trace.project)
        task = asyncio.ensure_future(ACTS[name](database, trace, told))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        # What a thread or the server still does of it comes before what is asked for now.
        await _records(database, trace).settle(entry(trace.project, 9))
        entries = (await _records(database, trace).audit()).items
        assert entries or await _state(database, trace) == before
        assert [replace(found, outcome="ok") for found in entries] in ([], [told])


@pytest.mark.each_engine
async def test_an_outcome_is_settled_once(database: Database, project: str) -> None:
    records = database.records(project)
    await records.log([entry(project, outcome=BEGUN), entry(project, 1, outcome="StoreError")])
    await records.settle(entry(project))
    await records.settle(entry(project, outcome="TimeoutError"))
    await records.settle(entry(project, 1))
    await records.settle(entry(project, 2))
    with pytest.raises(InputError):
        await records.settle(entry(f"{project}-other"))
    assert (await records.audit()).items == [entry(project, 1, outcome="StoreError"), entry(project)]


class _Values:
    """In the place of a store of values whose bucket does not answer, or does with an error."""

    def __init__(self, error: Exception | None) -> None:
        self.asked = asyncio.Event()
        self.error = error

    async def delete(self, project_id: str, trace_id: str) -> None:
        self.asked.set()
        if self.error is not None:
            raise self.error
        await asyncio.Event().wait()


@pytest.fixture(params=["sqlite_files_database", pytest.param("neo4j_database", marks=pytest.mark.neo4j)])
def apart(request: pytest.FixtureRequest) -> Database:
    """Databases that delete in more than one transaction."""
    return cast(Database, request.getfixturevalue(request.param))


async def test_the_entry_of_a_deletion_in_portions_is_there_before_it(apart: Database, project: str) -> None:
    trace = await _world(apart, project)
    store: Any = _store(apart, trace)
    real, store._values = store._values, (stuck := _Values(None))
    deletion = asyncio.create_task(store.delete_trace(trace.trace.id, entry(project)))
    await stuck.asked.wait()
    assert (await _records(apart, trace).audit()).items == [entry(project, outcome=BEGUN)]
    deletion.cancel()
    await asyncio.gather(deletion, return_exceptions=True)
    # The unfinished deletion is still listed and can be resumed; its audit entry has no outcome yet.
    assert await store.get(Label.TRACE, [trace.trace.id]) == [trace.trace]
    assert (await _records(apart, trace).audit()).items == [entry(project, outcome=BEGUN)]
    store._values = _Values(StoreError("the bucket is away"))
    with pytest.raises(StoreError):
        await store.delete_trace(trace.trace.id, entry(project, 1))
    store._values = real
    await store.delete_trace(trace.trace.id, entry(project, 2))
    outcomes = [found.outcome for found in (await _records(apart, trace).audit()).items]
    assert outcomes == ["ok", "StoreError", BEGUN]
    assert not await store.known_values(trace.trace.id)


async def test_a_run_of_retention_that_ends_early_has_its_entries(database: Database, project: str) -> None:
    """Retention is killed after its first deletion: the audit log has the entry of that deletion."""
    store, records = database.project(project), database.records(project)
    await aged(database, project, [40, 41])
    await records.set_retention(new_policy(project, 30, None, "somebody"))

    class Killed(BaseException):
        """Nothing after it is done, as after a kill."""

    async def settle(entry: AuditEntry) -> None:
        raise Killed

    def kill(expired: object) -> None:
        raise Killed

    records.settle = settle  # type: ignore[method-assign]
    with pytest.raises(Killed):
        await apply(store, records, tell=kill)
    found = {(one.action, one.outcome) for one in (await database.records(project).audit()).items}
    assert found == {("applyRetention", BEGUN), ("deleteTrace", "ok")}


async def test_a_wrong_batch_has_no_entry(database: Database, project: str) -> None:
    trace = await _world(database, project)
    verdict = replace(trace.attributions[0], failure_id="0" * 32)
    with pytest.raises(MemTraceError):
        await _store(database, trace).write(Batch(trace.trace, attributions=[verdict]), entry=entry(project))
    assert (await _records(database, trace).audit()).items == []
