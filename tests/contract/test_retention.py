"""Policies as a store keeps them, and runs that delete what they do not keep."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from schema.control import AuditEntry, RetentionPolicy
from schema.errors import InputError
from schema.models import Batch, Trace
from store import retention
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from store.contract.records import ProjectRecords
from store.neo4j.database import Neo4jDatabase
from store.retention import Reason, apply, keep, plan
from tests.contract.ageing import age
from tests.contract.samples import assistant
from tests.factory import START, TraceBuilder

SECONDS = 60


def policy(project: str, days: int | None = 30, traces: int | None = None, **more: object) -> RetentionPolicy:
    plain = RetentionPolicy(project, days, traces, START, "key:1", START)
    return replace(plain, **more)  # type: ignore[arg-type]


@pytest.fixture
def records(database: Database, project: str) -> ProjectRecords:
    """The project's policy and audit log."""
    return database.records(project)


async def aged(database: Database, project: str, days: list[float]) -> list[Trace]:
    """A trace for each of these numbers of days since it was written to, in the order of the list."""
    made = []
    for number, ago in enumerate(days):
        trace = assistant(project, f"trace {number}")
        await trace.write(database.project(project))
        await age(database, trace.trace.id, datetime.now(UTC) - timedelta(days=ago))
        made.append(trace.trace)
    return made


async def left(store: GraphStore) -> set[str]:
    return {trace.external_id for trace in (await store.traces()).items}


@pytest.mark.each_engine
async def test_a_project_has_no_policy_or_one(records: ProjectRecords, project: str) -> None:
    assert await records.retention() is None
    for one in (policy(project), policy(project, None, 5), policy(project, 1, 1_000_000_000, changed_by="ünï")):
        await records.set_retention(one)
        assert await records.retention() == one
    assert await records.clear_retention() is True
    assert await records.retention() is None
    assert await records.clear_retention() is False


@pytest.mark.parametrize(
    ("days", "traces"), [(None, None), (0, None), (-1, None), (36_501, None), (None, 0), (1, 1_000_000_001)]
)
def test_a_policy_that_says_nothing_is_refused(days: int | None, traces: int | None) -> None:
    with pytest.raises(InputError, match="retention"):
        policy("any", days, traces)


async def test_a_policy_is_of_its_project_alone(database: Database, records: ProjectRecords, project: str) -> None:
    await records.set_retention(policy(project))
    stranger = database.records(f"{project}-stranger")
    assert await stranger.retention() is None
    with pytest.raises(InputError, match="project"):
        await stranger.set_retention(policy(project, 1))
    assert await stranger.clear_retention() is False
    await stranger.set_retention(policy(stranger.project_id, 7))
    assert await records.retention() == policy(project)
    await stranger.clear_retention()
    assert await records.retention() == policy(project)


@pytest.mark.each_engine
async def test_a_policy_that_is_due_is_taken_once(database: Database, records: ProjectRecords, project: str) -> None:
    registry = database.registry()
    other = database.records(f"{project}-other")
    mine = [project, other.project_id]
    now, again = START + timedelta(hours=5), START + timedelta(hours=6)
    assert await registry.claim_retention(now, again, mine) is None
    await records.set_retention(policy(project, due_at=START + timedelta(hours=2)))
    await other.set_retention(policy(other.project_id, due_at=START + timedelta(hours=1)))
    assert await registry.claim_retention(START, again, mine) is None
    assert await registry.claim_retention(now, again, [f"{project}-third"]) is None
    taken = await asyncio.gather(*(registry.claim_retention(now, again, mine) for _ in range(6)))
    assert sorted(one.project_id for one in taken if one) == sorted(mine)
    assert all(one.due_at == again for one in taken if one)
    assert await records.retention() == policy(project, due_at=again)
    first = await registry.claim_retention(again, again + timedelta(hours=1), [project])
    assert first == policy(project, due_at=again + timedelta(hours=1))
    await records.set_retention(policy(project, 3))
    assert await registry.claim_retention(now, again, [project]) == policy(project, 3, due_at=again)


async def test_a_plan_says_what_would_go_and_why(database: Database, store: GraphStore, project: str) -> None:
    made = await aged(database, project, [40, 31, 20, 10, 1])
    listed = [expired async for expired in plan(store, policy(project, 30, 3))]
    assert [(expired.trace, expired.reason) for expired in listed] == [(one, Reason.DAYS) for one in made[:2]]
    listed = [expired async for expired in plan(store, policy(project, 35, 3))]
    assert [expired.reason for expired in listed] == [Reason.DAYS, Reason.TRACES]
    assert listed[0].counts == (await store.counts([made[0].id]))[made[0].id]
    assert [expired.trace async for expired in plan(store, policy(project, None, 1))] == made[:4]
    assert await left(store) == {one.external_id for one in made}


@pytest.mark.each_engine
@pytest.mark.values
async def test_a_run_deletes_what_the_plan_says(
    database: Database, store: GraphStore, records: ProjectRecords, project: str
) -> None:
    made = await aged(database, project, [40, 20, 31])
    neighbour = assistant(f"{project}-neighbour")
    await neighbour.write(database.project(neighbour.project))
    await age(database, neighbour.trace.id, START)
    await records.set_retention(policy(project))
    planned = [expired async for expired in plan(store, policy(project))]
    told: list[retention.Expired] = []
    run = await apply(store, records, tell=told.append)
    assert told == planned
    assert [expired.trace for expired in told] == [made[0], made[2]]
    assert (run.traces, run.counts["Variable"], run.is_stopped) == (2, 2 * len(neighbour.variables), False)
    assert await left(store) == {"trace 1"}
    assert (await store.stats()).labels == (await store.stats(made[1].id)).labels
    assert await left(database.project(neighbour.project)) == {"assistant"}
    kept = assistant(project, "trace 1")
    assert await store.value(kept.variables[2]) == kept.text(kept.variables[2]).encode()
    assert (await apply(store, records)).traces == 0


async def test_a_run_is_in_the_audit_log(
    database: Database, store: GraphStore, records: ProjectRecords, project: str
) -> None:
    made = await aged(database, project, [40, 41])
    await records.set_retention(policy(project))
    run = await apply(store, records, actor="key:1")
    assert (await apply(store, records)).traces == 0
    entries = (await records.audit()).items
    assert {(entry.action, entry.target, entry.outcome) for entry in entries} == {
        ("deleteTrace", made[0].id, "ok"),
        ("deleteTrace", made[1].id, "ok"),
        ("applyRetention", None, "ok"),
    }
    assert {(entry.actor, entry.request_id) for entry in entries} == {("key:1", run.id)}


async def test_nothing_is_deleted_without_a_policy(
    database: Database, store: GraphStore, records: ProjectRecords, project: str
) -> None:
    await aged(database, project, [4000])
    assert (await apply(store, records)).traces == 0
    assert await left(store) == {"trace 0"}
    assert (await records.audit()).items == []


async def test_a_trace_that_is_being_written_stays(
    database: Database, store: GraphStore, records: ProjectRecords, project: str
) -> None:
    """However long ago it began, and even where more are written than are to be kept."""
    await aged(database, project, [400, 300, 0.03, 0])
    await records.set_retention(policy(project, 30, 1))
    trace = assistant(project, "trace 0")
    await store.write(Batch(trace.trace))
    await apply(store, records)
    assert await left(store) == {"trace 0", "trace 2", "trace 3"}


async def test_a_trace_that_is_written_to_during_a_run_stays(
    database: Database, store: GraphStore, records: ProjectRecords, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await aged(database, project, [40, 41])
    await records.set_retention(policy(project))
    delete, longer = store.delete_trace, assistant(project, "trace 0")
    longer.variable("said meanwhile")

    async def delete_and_write(trace_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        counts = await delete(trace_id, entry)
        await longer.write(store)
        return counts

    monkeypatch.setattr(store, "delete_trace", delete_and_write)
    assert (await apply(store, records)).traces == 1
    assert await left(store) == {"trace 0"}


async def test_a_run_stops_between_two_traces_and_the_next_goes_on(
    database: Database, store: GraphStore, records: ProjectRecords, project: str
) -> None:
    await aged(database, project, [40, 41, 42])
    await records.set_retention(policy(project))
    stopping = asyncio.Event()
    run = await apply(store, records, stopping, lambda expired: stopping.set())
    assert (run.traces, run.is_stopped) == (1, True)
    assert await left(store) == {"trace 0", "trace 1"}
    assert "stopped" in {entry.outcome for entry in (await records.audit()).items}
    trace = assistant(project, "trace 0")
    await store.write(trace.batch())
    assert (await apply(store, records)).traces == 1
    assert await left(store) == {"trace 0"}


async def test_what_a_killed_deletion_left_is_deleted(neo4j_database: Neo4jDatabase, project: str) -> None:
    """On SQLite a deletion is one transaction."""
    store, records = neo4j_database.project(project), neo4j_database.records(project)
    (trace,) = await aged(neo4j_database, project, [40])
    for text, label in (("delete_of_trace", Label.ATTRIBUTION), ("delete_in_order", Label.VARIABLE)):
        await neo4j_database._connection.run(text, label, projectId=project, traceId=trace.id)
    await records.set_retention(policy(project))
    assert (await apply(store, records)).traces == 1
    assert set((await store.stats()).labels.values()) == {0}
    assert not await store.known_values(trace.id)


async def test_several_runs_at_once_keep_what_is_to_be_kept(
    database: Database, store: GraphStore, records: ProjectRecords, project: str
) -> None:
    await aged(database, project, [9, 8, 7, 6, 5, 4])
    await records.set_retention(policy(project, None, 2))
    await asyncio.gather(*(apply(store, records) for _ in range(3)))
    assert await left(store) == {"trace 4", "trace 5"}


async def test_workers_keep_all_projects(database: Database, project: str) -> None:
    projects = [project, f"{project}-second"]
    for name in projects:
        await aged(database, name, [40, 1])
    untouched = f"{project}-third"
    await aged(database, untouched, [40])
    await database.records(project).set_retention(policy(project))
    await database.records(projects[1]).set_retention(policy(projects[1], None, 1))
    stopping = asyncio.Event()
    workers = [asyncio.create_task(keep(database, stopping, [*projects, untouched], 0.01)) for _ in range(2)]
    async with asyncio.timeout(SECONDS):
        for name in projects:
            while await left(database.project(name)) != {"trace 1"}:
                await asyncio.sleep(0.01)
    stopping.set()
    await asyncio.gather(*workers)
    assert await left(database.project(untouched)) == {"trace 0"}


async def test_workers_that_are_told_to_stop_finish_the_deletion_in_hand_only(
    database: Database, store: GraphStore, records: ProjectRecords, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await aged(database, project, [40, 41, 42])
    await records.set_retention(policy(project))
    stopping = asyncio.Event()
    delete = store.delete_trace

    async def delete_and_stop(trace_id: str, entry: AuditEntry | None = None) -> dict[str, int]:
        stopping.set()
        return await delete(trace_id, entry)

    monkeypatch.setattr(store, "delete_trace", delete_and_stop)
    monkeypatch.setattr(database, "project", lambda _: store)
    await keep(database, stopping, [project])
    assert await left(store) == {"trace 0", "trace 1"}


async def test_policies_are_applied_beside_other_work(
    database: Database, store: GraphStore, records: ProjectRecords, project: str
) -> None:
    await aged(database, project, [40, 1])
    await records.set_retention(policy(project))
    async with retention.keeping(database, [project]), asyncio.timeout(SECONDS):
        while await left(store) != {"trace 1"}:
            await asyncio.sleep(0.01)
    assert {entry.actor for entry in (await records.audit()).items} == {"retention"}


async def test_a_new_policy_may_be_taken_back(database: Database, records: ProjectRecords, project: str) -> None:
    before = datetime.now(UTC)
    await records.set_retention(retention.policy(project, 30, None, "command line"))
    registry = database.registry()
    assert await registry.claim_retention(before + timedelta(minutes=59), START, [project]) is None
    later = datetime.now(UTC) + retention.EVERY
    assert await registry.claim_retention(later, later, [project]) is not None


async def test_many_traces_are_planned_and_deleted_page_by_page(
    database: Database, store: GraphStore, records: ProjectRecords, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "PAGE", 3)
    for number in range(11):
        trace = TraceBuilder(project, f"trace {number}")
        await trace.write(store)
        # Some were written to in the same microsecond.
        await age(database, trace.trace.id, START + timedelta(seconds=number // 3 * 3))
    kept = policy(project, None, 2)
    planned = [expired.trace async for expired in plan(store, kept)]
    assert len(planned) == 9
    await records.set_retention(kept)
    told: list[Trace] = []
    await apply(store, records, tell=lambda expired: told.append(expired.trace))
    assert told == planned
    assert len(await left(store)) == 2
