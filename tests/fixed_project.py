"""A project that is always the same, with failures, verdicts and records of all kinds, for tests of whole outputs."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine

from attribution.review.annotation.disputes import adjudicate
from attribution.review.annotation.queues import QueueWish, create_queue
from attribution.review.annotation.work import Bench
from attribution.review.history import undo_verdict
from attribution.review.people import Judgement, record_verdict
from schema.annotation import CaseOrder
from schema.control import Job, JobKind, JobState, RetentionPolicy, Role
from schema.kinds import ErrorType
from store.contract.protocol import Database
from tests.attribution.blamed import make_project
from tests.attribution.report.memory import PROJECT, Memory, losing, some
from tests.contract.samples import assistant
from tests.contract.test_jobs import job
from tests.contract.test_records import entry, key
from tests.expected import ids_of
from tests.factory import TraceBuilder, moment
from tests.rich_trace import EPOCH, ODD, rich

__all__ = ["JOBS", "NAMES", "NOW", "PROJECT", "QUEUE", "RICH", "TRACES", "id_of", "write_fixed"]

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
"""A time three days after the traces."""


STEP: dict[str, Any] = {"operationId": None, "link": "start", "quote": "", "holds": True}
LOSS: dict[str, Any] = {"confidence": 0.5, "reason": "so", "reached": False, "path": []}


def _complete(trace: TraceBuilder) -> TraceBuilder:
    """Give the steps and losses of the verdicts all members that a reader needs."""
    for place, verdict in enumerate(trace.attributions):
        evidence = [STEP | step for step in json.loads(verdict.evidence)]
        losses = [LOSS | loss for loss in json.loads(verdict.losses)]
        trace.attributions[place] = replace(verdict, evidence=json.dumps(evidence), losses=json.dumps(losses))
    return trace


def _traces() -> list[TraceBuilder]:
    blamed = make_project(PROJECT)
    pieces = Memory("pieces")
    pieces.lose_pieces()
    lost = losing()
    others = [some(name="kinds").trace, lost.trace, pieces.trace]
    traces = (assistant(PROJECT), blamed.one.trace, blamed.two.trace, *others, *rich(PROJECT))
    return [_complete(trace) for trace in traces]


TRACES = _traces()
RICH = TRACES[-2]
QUEUE = "friday | Zoë"


def _jobs() -> list[Job]:
    done = {"failures": 1234, "errorTypes": {"UpdateError": 1000, "RetrievalError": 1}, "abstained": 1, "cached": 2}
    seconds = {"started_at": EPOCH, "ended_at": EPOCH + timedelta(seconds=61, milliseconds=500)}
    by = JobKind.ATTRIBUTE
    several: list[dict[str, Any]] = [
        {
            "result": '{"file":"a.json"}',
            "kind": JobKind.IMPORT,
            "state": JobState.DONE,
            "done": 1,
            "total": 1,
            **seconds,
        },
        {"result": json.dumps(done), "kind": by, "state": JobState.DONE, "done": 1234, "total": 1234, **seconds},
        {"result": "{}", "kind": by, "state": JobState.DONE, "done": 0, "total": 0, "arguments": '{"method":"llm"}'},
        {"error": "no “file” <b> | here", "kind": JobKind.IMPORT, "state": JobState.FAILED, "attempts": 3, **seconds},
        {"kind": JobKind.REPORT, "state": JobState.CANCELLED, "cancel_requested": True, "ended_at": NOW},
        {"kind": by, "state": JobState.RUNNING, "stage": "reading", "done": 1, "total": 2, "started_at": NOW},
        {"kind": by, "state": JobState.RUNNING, "cancel_requested": True, "started_at": NOW, "owner": "runner"},
        {"kind": JobKind.REPORT, "created_by": "oidc:Zoë"},
    ]
    return [job(PROJECT, number, **more) for number, more in enumerate(several)]


JOBS = _jobs()
_KEYS = [
    key(PROJECT, 0, revoked_at=moment(60), name=""),
    key(PROJECT, 1, role=Role.ADMIN, person="Ada", last_used_at=NOW, expires_at=NOW + timedelta(seconds=1)),
    key(PROJECT, 2, role=Role.READER, last_used_at=EPOCH, expires_at=NOW - timedelta(seconds=1), name=ODD),
    key(PROJECT, 3, role=Role.ANNOTATOR, person="Zoë", secret_hash="invitation-x"),
]
NAMES = ids_of(*TRACES) | {one.id: f"<Job {number}>" for number, one in enumerate(JOBS)}


def id_of(name: str, trace: TraceBuilder = TRACES[0]) -> str:
    """The id of an element of a trace, such as ``Operation update``."""
    (found,) = [id_ for id_, known in NAMES.items() if known == f"<{trace.name}: {name}>"]
    return found


async def write_fixed(database: Database) -> None:
    """Write all traces of the project, its queue and its records."""
    store, records = database.project(PROJECT), database.records(PROJECT)
    for trace in TRACES:
        await trace.write(store)
    for one in _KEYS:
        await records.add_key(one, entry(PROJECT, action="createKey", target=one.id))
    for asked in JOBS:
        await records.add_job(asked)
    policy = RetentionPolicy(PROJECT, 1, None, NOW, "key:1", NOW + timedelta(hours=1))
    await records.set_retention(policy, entry(PROJECT, 41, action="setRetention", outcome="begun", request_id=None))
    with time_machine.travel(NOW, tick=False):
        await _judge(database)


async def _judge(database: Database) -> None:
    """Verdicts that were replaced, undone and withdrawn, and a queue whose annotators disagree."""
    store, records = database.project(PROJECT), database.records(PROJECT)
    wrong, lost, both = (one.id for one in RICH.failures)
    update = next(one.id for one in RICH.operations if one.external_id == "change-1")
    for said in (
        Judgement(
            wrong, ErrorType.UPDATE, update, "so | <i>", 0.0, evidence=((RICH.failures[0].evidence_ids[0], "is 5"),)
        ),
        Judgement(wrong, None, reason=""),
        Judgement(wrong, ErrorType.ANNOTATION, also=((ErrorType.UPDATE, update), (ErrorType.JUDGE, None))),
    ):
        await record_verdict(store, said, "Ada")
    await undo_verdict(store, wrong, "Ada", by="boss")
    await record_verdict(store, Judgement(both, ErrorType.JUDGE, confidence=1.0), "Ada")
    await undo_verdict(store, both, "Ada")
    wish = QueueWish(QUEUE, CaseOrder.UNSURE, "s", 3, 2, ("Ada", "Ben"), failure_ids=(wrong, lost, both))
    queue = await create_queue(store, records, wish, "boss")
    ada, ben = (Bench(store, records, queue, person) for person in queue.people)
    judging = ((ada, ErrorType.ANNOTATION), (ben, ErrorType.JUDGE))
    for person, kind in (*judging, *judging, (ada, None)):
        case = await person.next()
        assert case is not None
        said = Judgement(case.failure.id, kind, reason=f"{kind} | so", confidence=None if kind else 0.5)
        await person.submit(said)
    case = await ben.next()
    assert case is not None
    await ben.skip(case.failure.id)
    await adjudicate(store, records, queue, Judgement(lost, ErrorType.JUDGE, reason="so it is"), "boss", is_admin=True)
