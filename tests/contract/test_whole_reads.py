"""All that the stores answer to each of their reading methods, the same on both engines."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

from schema.annotation import Assignment
from schema.control import AuditEntry, Job, JobKind, JobState, RetentionPolicy, Role
from schema.kinds import ErrorType
from store.contract.answers import (
    Budget,
    Direction,
    FailureFilter,
    FailureKey,
    FailureOrder,
    Label,
    Page,
    ScanResult,
    SearchHit,
    Stats,
)
from store.contract.protocol import Database, GraphStore
from tests.attribution.blamed import make_project
from tests.contract.annotating import bench, failing, queue_of, says
from tests.contract.samples import assistant
from tests.contract.test_jobs import job
from tests.contract.test_records import entry, key
from tests.expected import compare, ids_of
from tests.factory import TraceBuilder, moment
from tests.rich_trace import rich

pytestmark = pytest.mark.each_engine

PROJECT = "whole-reads"
_BLAMED = make_project(PROJECT)
TRACES = [assistant(PROJECT), _BLAMED.one.trace, _BLAMED.two.trace, *rich(PROJECT)]
NAMES = ids_of(*TRACES)
FIRST, ONE, TWO, RICH, BARE = TRACES
TRACE_IDS = [trace.trace.id for trace in TRACES]
BY_NAME = {one.external_id: one.id for one in FIRST.variables}
FAILURES = [failure.id for trace in TRACES for failure in trace.failures]
ANSWER, NOTE, TOLD = (BY_NAME[name] for name in ("answer", "note", "message-1"))
VARIABLES = [one.id for one in FIRST.variables]
OPERATIONS = [one.id for one in FIRST.operations]
FORWARD = Direction.FORWARD
FILTERS: dict[str, FailureFilter] = {
    "text": FailureFilter(text="MIA"),
    "labelled": FailureFilter(labelled=True),
    "unlabelled": FailureFilter(labelled=False),
    "method": FailureFilter(method="llm"),
    "type": FailureFilter(error_type=ErrorType.EXTRACTION),
    "abstained": FailureFilter(abstained=True),
    "operation": FailureFilter(operation="extract"),
    "question": FailureFilter(question_kind="several"),
    "confident": FailureFilter(min_confidence=0.75),
    "unsure": FailureFilter(max_confidence=0.6),
    "without": FailureFilter(without=frozenset(FAILURES[:3])),
    "both": FailureFilter(method="flow", min_confidence=0.8, max_confidence=0.9),
}


async def _get(label: Label, store: GraphStore) -> Any:
    return await store.get(label, [*NAMES, "0" * 32])


async def _listed(wanted: FailureFilter, store: GraphStore) -> Any:
    return await store.failures(wanted=wanted)


async def _counted(wanted: FailureFilter, store: GraphStore) -> Any:
    return await store.count_failures(wanted=wanted)


async def _sorted(order: FailureOrder, store: GraphStore) -> Any:
    return await store.failures(order=order)


Read = Callable[[GraphStore], Awaitable[Any]]
READS: dict[str, Read] = {
    **{f"get-{label.value}": partial(_get, label) for label in Label},
    "resolve-id": lambda s: s.resolve(NOTE[:10]),
    "resolve-name": lambda s: s.resolve("note-2", Label.VARIABLE),
    "resolve-in-trace": lambda s: s.resolve("extract", Label.OPERATION, FIRST.trace.id),
    "traces": lambda s: s.traces(),
    "traces-paged": lambda s: s.traces(2),
    "page-operations": lambda s: s.page(Label.OPERATION, FIRST.trace.id, 2, kinds=["Update", "Deletion"]),
    "page-status": lambda s: s.page(Label.OPERATION, FIRST.trace.id, statuses=["error"]),
    "page-since": lambda s: s.page(Label.VARIABLE, FIRST.trace.id, 3, since=4),
    "pages": lambda s: s.pages(Label.SESSION, [*TRACE_IDS, "0" * 32], 1),
    "pages-failures": lambda s: s.pages(Label.FAILURE, TRACE_IDS, 2),
    "failures": lambda s: s.failures(first=4),
    **{f"failures-{name}": partial(_listed, one) for name, one in FILTERS.items()},
    **{f"count-{name}": partial(_counted, one) for name, one in FILTERS.items()},
    **{
        f"sorted-{by}-{'down' if down else 'up'}": partial(_sorted, FailureOrder(by, down))
        for by in FailureKey
        for down in (False, True)
    },
    "count-in-trace": lambda s: s.count_failures(ONE.trace.id, FILTERS["method"]),
    "verdict-groups": lambda s: s.verdict_groups(),
    "verdict-groups-of-trace": lambda s: s.verdict_groups(ONE.trace.id),
    "attributions": lambda s: s.attributions(FAILURES),
    "operations": lambda s: s.operations([*OPERATIONS, "0" * 32]),
    "derivations-backward": lambda s: s.derivations_of(VARIABLES),
    "derivations-forward": lambda s: s.derivations_of(VARIABLES, FORWARD, 1),
    "users": lambda s: s.users_of(VARIABLES),
    "users-one": lambda s: s.users_of(VARIABLES, 1),
    "activity": lambda s: s.activity(FIRST.trace.id, 2),
    "edges": lambda s: s.edges(FIRST.trace.id),
    "usages": lambda s: s.usages(FIRST.trace.id),
    "invalidations": lambda s: s.invalidations(FIRST.trace.id),
    "named": lambda s: s.named("note", None, None, 10),
    "named-version": lambda s: s.named("note", 1, FIRST.trace.id, 10),
    "search": lambda s: s.search("lives oslo"),
    "search-one": lambda s: s.search("oslo", FIRST.trace.id, 1),
    "scan": lambda s: s.scan("MATTERS. write"),
    "scan-of-a-trace": lambda s: s.scan("o", ONE.trace.id),
    "search-of-a-trace": lambda s: s.search("said", ONE.trace.id),
    "named-of-another-trace": lambda s: s.named("note", None, ONE.trace.id, 10),
    "scan-one": lambda s: s.scan("oslo", None, 1),
    "values": lambda s: s.values(FIRST.variables),
    "stored": lambda s: s.stored(FIRST.trace.id, {Label.VARIABLE: VARIABLES[:2], Label.SESSION: ["0" * 32]}),
    "stored-nothing": lambda s: s.stored("0" * 32, {Label.VARIABLE: VARIABLES[:2]}),
    "known-values": lambda s: s.known_values(FIRST.trace.id),
    "closure": lambda s: s.closure([ANSWER]),
    "closure-forward": lambda s: s.closure([TOLD], FORWARD),
    "closure-of-kinds": lambda s: s.closure([ANSWER], kinds=["Message", "Query"]),
    "closure-of-hops": lambda s: s.closure([ANSWER], budget=Budget(hops=1)),
    "closure-of-nodes": lambda s: s.closure([ANSWER], budget=Budget(nodes=3)),
    "closure-until": lambda s: s.closure([TOLD], FORWARD, Budget(until=5)),
    "closures": lambda s: s.closures([[ANSWER, NOTE], [TOLD]]),
    "paths": lambda s: s.paths(ANSWER, TOLD),
    "paths-one": lambda s: s.paths(TOLD, ANSWER, 1),
    "versions": lambda s: s.versions_of([NOTE, ANSWER, "0" * 32]),
    "verdict-changes": lambda s: s.verdict_changes(FAILURES),
    "stats": lambda s: s.stats(),
    "stats-of-trace": lambda s: s.stats(FIRST.trace.id),
    "counts": lambda s: s.counts([*TRACE_IDS, "0" * 32]),
    "timeline": lambda s: s.timeline(moment(0) - timedelta(days=1), moment(0) + timedelta(days=1), 43_200),
}


def _comparable(found: Any) -> Any:
    """An answer without what differs between engines, or from day to day."""
    if isinstance(found, Stats):
        return replace(found, kinds=_comparable(found.kinds), value_bytes=None, graph_bytes=None, total_bytes=None)
    if isinstance(found, SearchHit):
        return replace(found, score=0.0)
    if isinstance(found, Page):
        return {"items": _comparable(found.items), "has next": found.next is not None}
    if isinstance(found, dict):
        return {name: _comparable(found[name]) for name in sorted(found, key=lambda name: NAMES.get(name, str(name)))}
    if isinstance(found, list | tuple) and not hasattr(found, "_fields"):
        return [_comparable(one) for one in found]
    if isinstance(found, set | frozenset):
        return sorted(found)
    if isinstance(found, bytes):
        return found.decode()
    if isinstance(found, ScanResult):
        return replace(found, hits=_comparable(found.hits), scanned_bytes=0)
    return found


@pytest_asyncio.fixture(scope="module")
async def filled(database: Database) -> GraphStore:
    store = database.project(PROJECT)
    for trace in TRACES:
        await trace.write(store)
    return store


@pytest.mark.parametrize("name", READS)
async def test_reads(filled: GraphStore, name: str) -> None:
    compare(__file__, f"{name}.json", _comparable(await READS[name](filled)), NAMES)


def _names_of(project: str, *traces: TraceBuilder) -> dict[str, str]:
    return ids_of(*traces) | {project: "the project"}


async def test_records(database: Database, project: str) -> None:
    records, registry = database.records(project), database.registry()
    now = datetime(1971, 1, 1, tzinfo=UTC)
    keys = [
        key(project),
        key(project, 1, role=Role.ADMIN, expires_at=moment(50), person="Ada"),
        key(project, 2, role=Role.READER, last_used_at=moment(70)),
    ]
    for number, one in enumerate(keys):
        await records.add_key(one, entry(project, number, action="createKey"))
    revoked = await records.revoke_key(keys[0].id, moment(60), entry(project, 10, action="revokeKey"))
    await registry.touch_keys({keys[1].id: moment(80)})
    jobs = [
        job(project, 0),
        job(project, 1, kind=JobKind.ATTRIBUTE),
        job(project, 2, kind=JobKind.REPORT, state=JobState.DONE, result='{"a":1}', ended_at=moment(5)),
    ]
    for number, added in enumerate(jobs):
        await records.add_job(added, entry(project, 20 + number, action="job"))
    claimed = await registry.claim_job("runner", now, now + timedelta(minutes=1), [project])
    assert isinstance(claimed, Job)
    leases = await registry.leases([project])
    renewed = await registry.renew_job(claimed.id, "runner", now + timedelta(minutes=9), "reading", 3, 7)
    ended = await registry.end_job(claimed.id, "runner", JobState.FAILED, moment(90), None, "no such file")
    cancelled = await records.cancel_job(jobs[1].id, moment(91), entry(project, 30, action="cancelJob"))
    await records.log([entry(project, 40, outcome="begun")])
    await records.settle(entry(project, 40, outcome="failed"))
    policy = RetentionPolicy(project, 30, 100, moment(0), "key:1", moment(1))
    await records.set_retention(policy, entry(project, 41, action="setRetention"))
    due = await registry.claim_retention(moment(2), moment(3), [project])
    found = {
        "revoked": revoked,
        "claimed": claimed,
        "leases": leases,
        "renewed": renewed,
        "ended": ended,
        "cancelled": cancelled,
        "due": due,
        "retention": await records.retention(),
        "cleared": [await records.clear_retention(), await records.clear_retention(), await records.retention()],
        "key": await registry.key(keys[1].id),
        "keys": (await records.keys()).items,
        "jobs": await records.jobs([jobs[2].id, jobs[0].id, "0" * 32]),
        "job page": (await records.job_page()).items,
        "jobs that failed": (await records.job_page(state=JobState.FAILED)).items,
        "reports": (await records.job_page(kind=JobKind.REPORT)).items,
        "audit": (await records.audit()).items,
    }
    names = {project: "the project"} | {one.id: f"key {number}" for number, one in enumerate(keys)}
    compare(__file__, "records.json", found, names)


async def test_queues(database: Database, project: str) -> None:
    """Two people at a queue of three failures: one submits and skips, the other holds a case."""
    trace = failing(project, 3)
    store, records = database.project(project), database.records(project)
    await trace.write(store)
    queue = await queue_of(database, project, annotators=2, people=("Ada", "Ben"))
    ada, ben = bench(database, queue, "Ada"), bench(database, queue, "Ben")
    first = await ada.next()
    assert first is not None
    await ada.submit(says(first.failure.id, "so it is", ErrorType.UPDATE, operation_id=trace.operations[0].id))
    second = await ada.next()
    assert second is not None
    await ada.skip(second.failure.id)
    third = await ben.next()
    assert third is not None
    await ada.undo(first.failure.id)
    again = await ada.next()
    assert again is not None
    await ada.submit(says(again.failure.id, "or so", None, confidence=0.5))
    to_judge = {
        person: [(one.queue.name, len(one.failure_ids)) for one in await records.to_judge(person)]
        for person in ("Ada", "Ben", "Cleo")
    }
    found = {
        "queue": _without_ranks(queue),
        "assignments": sorted(map(_of_assignment, await records.assignments(queue.id)), key=str),
        "to judge": to_judge,
        "closed": [one.closed_by for one in [await records.close_queue(queue.id, "boss", _entry(project))]],
        "page": [_without_ranks(one) for one in (await records.queue_page()).items],
        "audit": [(one.actor, one.action, one.outcome) for one in (await records.audit()).items],
        "deleted": (await records.delete_queue(queue.id)).name,
        "left": await records.assignments(queue.id),
    }
    compare(__file__, "queues.json", found, _names_of(project, trace))


def _entry(project: str) -> AuditEntry:
    return entry(project, 1, action="closeQueue")


def _without_ranks(queue: Any) -> dict[str, Any]:
    """A queue without the order of its cases, which follows the ids, and without the store's time."""
    gone = {"ranks", "failure_ids", "created_at", "closed_at"}
    return {name: one for name, one in asdict(queue).items() if name not in gone} | {"cases": len(queue.failure_ids)}


def _of_assignment(one: Assignment) -> dict[str, Any]:
    """What an assignment says, whichever case it is about."""
    return {
        "person": one.person,
        "progress": one.progress.value,
        "reserved": one.reserved_until is not None,
        "judged": one.attribution_id is not None,
        "draft": one.draft,
    }
