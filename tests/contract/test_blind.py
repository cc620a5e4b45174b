"""What annotators must not see yet is kept from them wherever a store or its records are read, on both engines."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from typing import Any

import msgspec
import pytest

from attribution.blame.model import By
from attribution.blame.rank import blame, chosen_verdicts
from attribution.report.make import make
from attribution.review.annotation.disputes import adjudicate, agreement_of, disputes
from attribution.review.history import history
from attribution.review.labelling import export_labels
from attribution.review.people import record_verdict, withdraw_verdict
from attribution.statistics import kappa
from attribution.verdicts.stored import every_failure
from attribution.why_not.find import why_not
from ingest.files.registry import import_path
from ingest.files.smartcomment.format import Smartcomment
from schema.annotation import AnnotationQueue
from schema.control import AuditEntry, Job, JobKind, JobState
from schema.errors import InputError, NotFoundError
from schema.kinds import ErrorType
from schema.models import Batch, Failure, Trace, as_json
from store import blind
from store.blind import RECORDS_PASS, STORE_PASSES, blind_records, blind_store
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from store.contract.records import ProjectRecords
from tests.attribution.benchmark.sample import truth, write_benchmark
from tests.contract.annotating import bench, failing, queue_of, says
from tests.contract.samples import assistant
from tests.contract.test_jobs import job as queued_job
from tests.factory import START, TraceBuilder

pytestmark = pytest.mark.one_engine

SECRET = "a secret reason"
Told = Callable[[GraphStore, TraceBuilder], Awaitable[object]]


def public(protocol: type) -> set[str]:
    """What a protocol offers."""
    return {name for name, _ in inspect.getmembers(protocol) if not name.startswith("_")}


def test_somebody_has_thought_about_each_read() -> None:
    """A method that is new fails here, until it is said whether it tells of verdicts."""
    own = {name for name in vars(blind._BlindStore) if not name.startswith("_")}
    assert own | STORE_PASSES == public(GraphStore)
    assert not own & STORE_PASSES
    records = {name for name in vars(blind._BlindRecords) if not name.startswith("_")}
    assert records | RECORDS_PASS == public(ProjectRecords)
    assert not records & RECORDS_PASS


async def test_what_is_not_listed_is_refused(database: Database, project: str) -> None:
    store, records = database.project(project), database.records(project)
    for wrapped in (blind_store(store, records, "Ada"), blind_records(records, store, "Ada")):
        with pytest.raises(AttributeError, match="not among what annotators may ask"):
            _ = wrapped.query  # type: ignore[union-attr]


@pytest.fixture
async def trace(store: GraphStore, project: str) -> TraceBuilder:
    """A failure with a method's verdict and another person's, and with the label of a data set."""
    found = assistant(project)
    (failure,), (verdict,) = found.failures, found.attributions
    label = {"annotations": [{"position": 0, "record": {"final_error_type": SECRET}}], "topic": "homes"}
    found.failures = [replace(failure, attributes=json.dumps(label))]
    found.attributions = [replace(verdict, reason=SECRET, evidence="[]", losses="[]")]
    await found.write(store)
    await record_verdict(store, says(failure.id, SECRET), "Ben")
    await record_verdict(store, says(failure.id, f"{SECRET} again"), "Ben")
    return found


@pytest.fixture
async def queue(database: Database, trace: TraceBuilder, project: str) -> AnnotationQueue:
    """Of that failure, for Ada and Cleo."""
    return await queue_of(database, project, people=("Ada", "Cleo"))


async def _elements(store: GraphStore, trace: TraceBuilder) -> object:
    ids = [one.id for one in trace.attributions]
    found = [*await store.get(Label.ATTRIBUTION, ids), *await store.get(Label.FAILURE, [trace.failures[0].id])]
    return [as_json(one) for one in found]


async def _pages(store: GraphStore, trace: TraceBuilder) -> object:
    id_ = trace.trace.id
    listed = [*(await store.failures()).items, *(await store.failures(id_)).items]
    paged = (await store.pages(Label.FAILURE, [id_]))[id_].items
    return [as_json(one) for one in (*listed, *paged)]


async def _verdicts(store: GraphStore, trace: TraceBuilder) -> object:
    return [as_json(one) for one in await store.attributions([trace.failures[0].id])]


async def _resolved(store: GraphStore, trace: TraceBuilder) -> object:
    found = [as_json(await store.resolve(trace.failures[0].id, Label.FAILURE))]
    for label in (Label.ATTRIBUTION, None):
        for length in (32, 12):
            try:
                found.append(as_json(await store.resolve(trace.attributions[0].id[:length], label)))
            except NotFoundError:
                continue
    return found


async def _changes(store: GraphStore, trace: TraceBuilder) -> object:
    failure = trace.failures[0].id
    return [one.said for one in (*await store.verdict_changes([failure]), *(await history(store, [failure]))[failure])]


async def _report(store: GraphStore, trace: TraceBuilder) -> object:
    reports = [await make(store, await every_failure(store, None), source) for source in (None, "human", "Ben")]
    return [msgspec.to_builtins(one) for one in reports]


async def _labels(store: GraphStore, trace: TraceBuilder) -> object:
    return [one.model_dump(mode="json") for one in await export_labels(store)]


TELLS: dict[str, Told] = {
    "elements": _elements,
    "pages": _pages,
    "verdicts": _verdicts,
    "references": _resolved,
    "history": _changes,
    "report": _report,
    "labels": _labels,
}


@pytest.mark.parametrize("read", TELLS.values(), ids=TELLS.keys())
async def test_what_is_withheld_is_nowhere(
    database: Database, store: GraphStore, trace: TraceBuilder, queue: AnnotationQueue, read: Told
) -> None:
    records = database.records(store.project_id)
    assert SECRET in json.dumps(await read(store, trace))
    for person in ("Ada", "Cleo"):
        assert SECRET not in json.dumps(await read(blind_store(store, records, person), trace))
    for person in ("Ben", "Dan"):
        assert SECRET in json.dumps(await read(blind_store(store, records, person), trace))


async def test_an_export_has_no_labels_that_are_withheld(
    database: Database, store: GraphStore, project: str, tmp_path: Path
) -> None:
    path = write_benchmark(tmp_path)
    report = await import_path(store, path)
    failures = await every_failure(store, None)
    queue = await queue_of(database, project, people=("Ada", "Cleo"), count=len(failures))
    assert len(queue.failure_ids) == len(failures) > 1
    ada = blind_store(store, database.records(project), "Ada")

    async def exported(of: GraphStore) -> dict[str, Any]:
        out = BytesIO()
        await Smartcomment().write(of, str(report.trace_id), out)
        return dict(json.loads(out.getvalue())["data"])

    whole, shown = await exported(store), await exported(ada)
    assert len(whole["annotations"]) == len(truth()["failures"])
    assert shown["annotations"] == []
    assert {**shown, "annotations": whole["annotations"]} == whole
    # A blind annotator who writes a failure again erases nothing.
    (seen,) = await ada.get(Label.FAILURE, [failures[0].id])
    (trace,) = await ada.get(Label.TRACE, [str(report.trace_id)])
    assert isinstance(seen, Failure)
    assert isinstance(trace, Trace)
    await ada.write(Batch(trace, failures=[replace(seen, gold_answers=("another",))]))
    (kept,) = await store.get(Label.FAILURE, [seen.id])
    assert isinstance(kept, Failure)
    assert kept.gold_answers == ("another",)
    assert json.loads(kept.attributes) == json.loads(failures[0].attributes)


async def test_it_is_told_once_they_have_submitted(
    database: Database, store: GraphStore, trace: TraceBuilder, queue: AnnotationQueue
) -> None:
    records, failure = database.records(store.project_id), trace.failures[0].id
    ada = blind_store(store, records, "Ada")
    bench_of = bench(database, queue, "Ada", ada)
    assert await bench_of.next()
    assert await ada.attributions([failure]) == []
    done = await bench_of.submit(says(failure, "mine"))
    assert done.verdict in await ada.attributions([failure])
    assert len(await ada.attributions([failure])) == 3
    assert SECRET in json.dumps(await _elements(ada, trace))
    await bench_of.undo()
    assert await ada.attributions([failure]) == []
    assert await blind_store(store, records, "Cleo").attributions([failure]) == []
    await records.close_queue(queue.id, "boss")
    assert len(await blind_store(store, records, "Cleo").attributions([failure])) == 2


async def test_ones_own_words_are_told(
    database: Database, store: GraphStore, trace: TraceBuilder, queue: AnnotationQueue
) -> None:
    ada = blind_store(store, database.records(store.project_id), "Ada")
    failure = trace.failures[0].id
    for reason in ("mine", "mine, too"):
        own = await record_verdict(ada, says(failure, reason), "Ada")
    assert await ada.attributions([failure]) == [own]
    assert {one.attribution_id for one in (await history(ada, [failure]))[failure]} == {own.id}
    others = [one for one in await store.attributions([failure]) if one.id != own.id]
    for one in others:
        with pytest.raises(NotFoundError):
            await withdraw_verdict(ada, one.id, None)
    await withdraw_verdict(ada, own.id, "Ada")


async def test_numbers_tell_nothing(
    database: Database, store: GraphStore, trace: TraceBuilder, queue: AnnotationQueue, project: str
) -> None:
    """Counts, the time line, agreement, blame and rankings are as if the verdicts were not there."""
    other = failing(project, 2)
    await other.write(store)
    failure = trace.failures[0].id
    ada = blind_store(store, database.records(project), "Ada")
    bare = database.project(f"{project}-bare")
    without = assistant(bare.project_id)
    without.attributions = []
    for one in (without, failing(bare.project_id, 2)):
        await one.write(bare)
    assert (await ada.stats()).labels == (await bare.stats()).labels
    assert (await ada.stats(trace.trace.id)).labels["Attribution"] == 0
    assert (await store.stats()).labels["Attribution"] == 4
    assert {id_: one["Attribution"] for id_, one in (await ada.counts([trace.trace.id, other.trace.id])).items()} == {
        trace.trace.id: 0,
        other.trace.id: 2,
    }
    since, until = START - timedelta(days=1), datetime.now(UTC) + timedelta(days=1)
    seconds = int((until - since).total_seconds() / 50) + 1
    seen = [one.verdicts for one in await ada.timeline(since, until, seconds)]
    assert seen == [one.verdicts for one in await bare.timeline(since, until, seconds)]
    assert sum(sum(one.verdicts.values()) for one in await store.timeline(since, until, seconds)) == 4
    assert kappa.sources_of(await ada.attributions([failure])) == []
    ranked = (await blame(ada, await chosen_verdicts(ada, trace.trace.id), [By.OPERATION]))[By.OPERATION]
    assert ranked == []
    assert (await blame(store, await chosen_verdicts(store, other.trace.id), [By.OPERATION]))[By.OPERATION]


async def test_what_the_free_pass_would_say_is_not_told(
    database: Database, store: GraphStore, trace: TraceBuilder, queue: AnnotationQueue
) -> None:
    ada = blind_store(store, database.records(store.project_id), "Ada")
    failures = await every_failure(store, None)
    assert (await why_not(store, failures))[failures[0].id]
    assert (await why_not(ada, failures))[failures[0].id] == []


def ended(project: str, number: int, kind: JobKind, arguments: dict[str, Any], result: dict[str, Any]) -> Job:
    """A job that is done."""
    more = {"arguments": json.dumps(arguments), "result": json.dumps(result | {"secret": SECRET})}
    return queued_job(project, number, kind=kind, state=JobState.DONE, **more)


async def test_results_of_jobs_are_withheld(
    database: Database, store: GraphStore, trace: TraceBuilder, queue: AnnotationQueue, project: str
) -> None:
    records, failure = database.records(project), trace.failures[0].id
    told = [
        ended(project, 0, JobKind.REPORT, {"failure_ids": ["0" * 32]}, {}),
        ended(project, 1, JobKind.REPORT, {"failure_ids": [failure]}, {"withheld": [failure]}),
        ended(project, 2, JobKind.ATTRIBUTE, {"failure_ids": ["0" * 32]}, {}),
        ended(project, 3, JobKind.IMPORT, {}, {}),
    ]
    hidden = [
        ended(project, 4, JobKind.REPORT, {"failure_ids": [failure]}, {}),
        ended(project, 5, JobKind.REPORT, {"failure_ids": []}, {"withheld": ["0" * 32]}),
        ended(project, 6, JobKind.REPORT, {"trace_ids": [trace.trace.id]}, {}),
        ended(project, 7, JobKind.ATTRIBUTE, {"failure_ids": []}, {}),
        ended(project, 8, JobKind.ATTRIBUTE, {"trace_id": trace.trace.id, "failure_ids": []}, {}),
    ]
    for job in (*told, *hidden):
        await records.add_job(job)
    for person in ("Ada", "Ben"):
        seen = blind_records(records, store, person)
        found = [await seen.jobs([job.id for job in (*told, *hidden)]), (await seen.job_page()).items[::-1]]
        found.append([await seen.cancel_job(job.id, START) for job in (*told, *hidden)])
        found.append([await seen.add_job(job) for job in (*told, *hidden)])
        for jobs in found:
            texts = [job.result is not None for job in jobs]
            assert texts == [True] * 4 + [person == "Ben"] * 5
            assert person == "Ben" or {job.error for job in jobs[4:]} == {blind.WITHHELD}


async def test_the_audit_log_does_not_tell_who_has_judged(
    database: Database, store: GraphStore, trace: TraceBuilder, queue: AnnotationQueue, project: str
) -> None:
    """An admin who is still to annotate a case read there who had judged it, and when."""
    records, failure = database.records(project), trace.failures[0].id

    def entry_of(actor: str, action: str) -> Callable[[str], AuditEntry]:
        return lambda target: AuditEntry(token_hex(16), project, datetime.now(UTC), actor, action, target, "ok", None)

    for number in range(3):
        await record_verdict(store, says(failure, f"{number}"), "Ben", entry_of("key:ben", "recordVerdict"))
    await record_verdict(store, says(failure, "mine"), "Ada", entry_of("key:ada", "recordVerdict"))
    await withdraw_verdict(store, await _verdict_of(store, failure, "Ben"), "Ben", None, "Ben")
    await records.log([entry_of("key:dan", "createKey")(failure)])
    whole = (await records.audit()).items
    assert len(whole) == 5
    for person, actors in (("Ada", ["key:dan", "key:ada"]), ("Ben", [one.actor for one in whole])):
        seen = blind_records(records, store, person)
        assert [one.actor for one in (await seen.audit()).items] == actors
        paged, after = list[AuditEntry](), None
        while True:
            page = await seen.audit(1, after)
            paged += page.items
            after = page.next
            if after is None:
                break
        assert [one.actor for one in paged] == actors


async def _verdict_of(store: GraphStore, failure: str, author: str) -> str:
    return next(one.id for one in await store.attributions([failure]) if one.author == author)


async def test_a_dispute_is_shown_without_names_and_ends_with_the_final_word(
    database: Database, store: GraphStore, project: str
) -> None:
    trace = assistant(project)
    await trace.write(store)
    (failure,) = trace.failures
    update = next(one for one in trace.operations if one.external_id == "update")
    queue, records = await queue_of(database, project, people=("Ada", "Ben", "Cleo")), database.records(project)
    for person, error_type, operation in (("Ada", ErrorType.UPDATE, update.id), ("Ben", ErrorType.ANNOTATION, None)):
        await bench(database, queue, person).next()
        said = replace(says(failure.id, f"{person} says so", error_type), operation_id=operation)
        await bench(database, queue, person).submit(said)
        if person == "Ada":
            assert await disputes(store, records, queue) == []
    (dispute,) = await disputes(store, records, queue)
    assert [one.name for one in dispute.sides] == ["A", "B"]
    assert {one.verdict.error_type for one in dispute.sides} == {ErrorType.UPDATE, ErrorType.ANNOTATION}
    assert dispute.adjudicated is None
    found = await agreement_of(store, records, queue)
    assert (found.cases, found.agreed, found.joint_kappa) == (1, 0, -1.0)
    ((pair),) = found.pairs
    assert (pair.first, pair.second, pair.joint_accuracy) == ("Ada", "Ben", 0.0)
    cleo = blind_store(store, records, "Cleo")
    assert await disputes(cleo, records, queue) == []
    final = replace(says(failure.id, "the final word", ErrorType.UPDATE), operation_id=update.id)
    with pytest.raises(InputError, match="is yours to annotate first"):
        await adjudicate(cleo, records, queue, final, "Cleo")
    with pytest.raises(InputError, match="you have judged it yourself"):
        await adjudicate(blind_store(store, records, "Ada"), records, queue, final, "Ada")
    for judge, is_admin in (("Dan", False), ("Ada", True)):
        verdict = await adjudicate(store, records, queue, final, judge, is_admin=is_admin)
    (dispute,) = await disputes(store, records, queue)
    assert dispute.adjudicated == verdict
    people = [one for one in await store.attributions([failure.id]) if one.method == "human"]
    assert sorted(one.author or "" for one in people) == ["Ada", "Ada", "Ben"]
    lines = [one.model_dump(mode="json") for one in await export_labels(store)]
    assert [(one["author"], one.get("adjudicated"), one.get("annotators")) for one in lines] == [
        ("Ada", True, ["Ada", "Ben"]),
        ("Ada", None, None),
        ("Ben", None, None),
    ]


async def test_a_final_word_on_a_case_without_dispute_is_listed(
    database: Database, store: GraphStore, project: str
) -> None:
    await failing(project, 2).write(store)
    queue, records = await queue_of(database, project, annotators=2), database.records(project)
    for person in ("Ada", "Ben"):
        while (case := await bench(database, queue, person).next()) is not None:
            await bench(database, queue, person).submit(says(case.failure.id))
    assert await disputes(store, records, queue) == []
    decided = queue.failure_ids[1]
    final = await adjudicate(store, records, queue, says(decided, error_type=ErrorType.JUDGE), "Dan")
    ((dispute),) = await disputes(store, records, queue)
    assert (dispute.failure.id, dispute.adjudicated) == (decided, final)


async def test_agreement_says_who_may_have_seen_what_others_say(
    database: Database, store: GraphStore, project: str
) -> None:
    await failing(project, 3).write(store)
    queue, records = await queue_of(database, project), database.records(project)
    for person in ("Ada", "Ben"):
        while (case := await bench(database, queue, person).next()) is not None:
            await bench(database, queue, person).submit(says(case.failure.id))
    assert (await agreement_of(store, records, queue)).changed == 0
    ada, (first, second, _) = bench(database, queue, "Ada"), queue.failure_ids
    await ada.submit(says(first, "in other words"))
    assert (await agreement_of(store, records, queue)).changed == 0
    await ada.submit(says(first, error_type=ErrorType.JUDGE))
    await ada.undo(second)
    await ada.submit(says(second, error_type=ErrorType.JUDGE))
    found = await agreement_of(store, records, queue)
    assert (found.cases, found.agreed, found.changed) == (3, 1, 2)


async def test_a_final_word_needs_two_verdicts_on_a_case_of_the_queue(
    database: Database, store: GraphStore, project: str
) -> None:
    await failing(project, 3).write(store)
    queue = await queue_of(database, project, count=2)
    records = database.records(project)
    case = await bench(database, queue, "Ada").next()
    assert case is not None
    await bench(database, queue, "Ada").submit(says(case.failure.id))
    with pytest.raises(InputError, match="needs the verdicts of two people"):
        await adjudicate(store, records, queue, says(case.failure.id), "Dan")
    (other,) = {one.id for one in await every_failure(store, None)} - set(queue.failure_ids)
    with pytest.raises(InputError, match="is not a case of the queue"):
        await adjudicate(store, records, queue, says(other), "Dan")
