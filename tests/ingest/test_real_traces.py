"""Recorded traces of four memory systems: whole, exact, and given back as they were."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import apsw
import msgspec
import neo4j
import pytest
import pytest_asyncio

from benchmarks.exactness import Question, RecordedFile, answer_ids, is_exact
from ingest.files.protocol import ImportReport
from ingest.files.registry import import_path
from ingest.files.smartcomment.write import export_trace
from schema.models import Derivation, Operation, Trace, Variable
from store.contract.answers import Closure, Label
from store.contract.protocol import Database, GraphStore
from store.shared.paging import elements, in_trace
from store.sqlite.database import SqliteDatabase
from tests.data import data_folder, needs_data, trace_files
from tests.neo4j_server import Neo4jServer

pytestmark = needs_data

PLAIN_SQL = """
WITH RECURSIVE past (k) AS (
    SELECT k FROM variable WHERE id = unhex(:id)
    UNION
    SELECT derivation.source_k FROM past JOIN derivation ON derivation.target_k = past.k
)
SELECT lower(hex(variable.id)), variable.kind, name.text, maker.text
FROM past
JOIN variable ON variable.k = past.k
JOIN text AS name ON name.k = variable.external_k
LEFT JOIN operation ON operation.k = variable.operation_k
LEFT JOIN text AS maker ON maker.k = operation.external_k
"""
PLAIN_CYPHER = """
MATCH (answer:Variable {id: $id})-[:DERIVED_FROM*0..]->(past) WITH DISTINCT past
OPTIONAL MATCH (past)-[:GENERATED_BY]->(maker:Operation)
RETURN collect([past.id, past.kind, past.externalId, maker.externalId]) AS rows
"""
SMALL = 2
"""Number of the smallest files that also run with values outside of the file, and on Neo4j."""
EVERY = 16
"""On Neo4j, one of this many questions is also asked through the store; on SQLite, all questions are."""


@dataclass(frozen=True, slots=True)
class Past:
    """A variable of a causal past by a plain query of the engine; ``maker`` is the operation that made it."""

    id: str
    kind: str
    external_id: str
    maker: str | None


@dataclass(frozen=True, slots=True)
class Imported:
    """One file in one engine.

    Attributes:
        plain: the causal past of a variable by a plain query.
        asked: one of this many questions is asked through the store.
    """

    path: Path
    recorded: RecordedFile
    store: GraphStore
    report: ImportReport
    plain: Callable[[str], Awaitable[list[Past]]]
    asked: int


def _cases() -> Iterator[Any]:
    """Each file in each engine; a file's tests run in one process, in sequence."""
    paths = trace_files("traces") or [Path("absent")]
    small = sorted(paths, key=lambda path: path.stat().st_size if path.exists() else 0)[:SMALL]
    for path in paths:
        engines: dict[str, list[pytest.MarkDecorator]] = {"sqlite": []}
        if path in small:
            engines |= {"sqlite-files": [], "neo4j": [pytest.mark.neo4j]}
        name = path.name.partition(".")[0]
        for engine, marks in engines.items():
            in_full = [] if path == small[0] and engine == "sqlite" else [pytest.mark.full]
            yield pytest.param((engine, path), id=f"{engine}-{name}", marks=[*marks, *in_full])


@lru_cache(1)
def read(path: Path) -> RecordedFile:
    return RecordedFile(path)


@pytest.fixture(scope="module", params=_cases())
def place(request: pytest.FixtureRequest) -> tuple[Database, Path, Neo4jServer | None]:
    """An engine and a file for it."""
    engine, path = request.param
    database: Database = request.getfixturevalue(f"{engine.replace('-', '_')}_database")
    return database, path, request.getfixturevalue("neo4j_server") if engine == "neo4j" else None


@pytest_asyncio.fixture(scope="module")
async def imported(place: tuple[Database, Path, Neo4jServer | None]) -> AsyncIterator[Imported]:
    database, path, server = place
    store = database.project(f"real-{os.getpid()}")
    report = await import_path(store, path)
    if isinstance(database, SqliteDatabase):
        with closing(apsw.Connection(str(database.path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:

            async def by_sql(id_: str) -> list[Past]:
                return [Past(*row) for row in connection.execute(PLAIN_SQL, {"id": id_})]

            yield Imported(path, read(path), store, report, by_sql, 1)
    else:
        assert server is not None
        async with neo4j.AsyncGraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:

            async def by_cypher(id_: str) -> list[Past]:
                records, _, _ = await driver.execute_query(PLAIN_CYPHER, id=id_)
                return [Past(*row) for row in records[0]["rows"]]

            yield Imported(path, read(path), store, report, by_cypher, EVERY)
    await store.delete_trace(report.trace_id)


def test_everything_is_counted(imported: Imported) -> None:
    report, counts = imported.report, imported.recorded.counts
    assert (report.variables, report.derivations) == (counts["nodes"], counts["edges"])
    assert (report.operations, report.sessions) == (counts["operations"], counts["sessions"])
    assert report.created["Variable"] == report.variables + report.occurrences
    assert report.created["Derivation"] == report.derivations + report.reads


async def test_export_equals_the_file(imported: Imported) -> None:
    out = io.BytesIO()
    await export_trace(imported.store, imported.report.trace_id, out)
    assert msgspec.json.decode(out.getvalue()) == imported.recorded.raw


@pytest.mark.full
async def test_each_answer_has_its_own_past(imported: Imported) -> None:
    """One query, its own; all searches that served it; nothing later than its reader: by hand and by the store."""
    questions = imported.recorded.questions()
    answers = await answer_ids(imported.store, imported.report.trace_id, questions)
    assert len(set(answers.values())) == len(questions) > 0
    wrong = []
    for place, question in enumerate(questions):
        past = await imported.plain(answers[question.query])
        is_right = _is_own(question, past)
        if place % imported.asked == 0:
            closure = await imported.store.closure([answers[question.query]])
            is_right = is_right and _is_right(question, closure, past)
        if not is_right:
            wrong.append(question.query)
    assert wrong == []


def _is_own(question: Question, past: list[Past]) -> bool:
    return {one.external_id for one in past if one.kind == "Query"} == {question.query} and question.searches <= {
        one.maker for one in past
    }


def _is_right(question: Question, closure: Closure, past: list[Past]) -> bool:
    by_id = {variable.id: variable for variable in closure.variables}
    return (
        is_exact(question, closure)
        and not closure.truncated
        and question.searches <= {operation.external_id for operation in closure.operations}
        and {one.id: one.kind for one in past} == {id_: variable.kind.value for id_, variable in by_id.items()}
        and all(_is_earlier(derivation, by_id) for derivation in closure.derivations)
    )


def _is_earlier(derivation: Derivation, by_id: dict[str, Variable]) -> bool:
    source, target = by_id[derivation.source], by_id[derivation.target]
    assert source.created_at is not None
    assert derivation.created_at is not None
    return source.sequence < target.sequence and source.created_at <= derivation.created_at


async def test_equal_predictions_stay_apart(imported: Imported) -> None:
    questions = imported.recorded.questions()
    answers = await answer_ids(imported.store, imported.report.trace_id, questions)
    shared: dict[str, list[str]] = {}
    for question in questions:
        shared.setdefault(question.answer, []).append(answers[question.query])
    equal = next(ids for ids in shared.values() if len(ids) > 1)
    variables: list[Any] = await imported.store.get(Label.VARIABLE, equal)
    assert len({variable.value_hash for variable in variables}) == 1
    assert len({variable.operation_id for variable in variables}) == len(equal)


def _scored(imported: Imported, score: float) -> set[str]:
    """The judges' operations that gave a score."""
    nodes = imported.recorded.nodes
    return {
        edge["op_id"]
        for edge in imported.recorded.edges
        if nodes[edge["target_full_node_id"]]["class_name"] == "judge_score"
        and float(nodes[edge["target_full_node_id"]]["value"]) == score
    }


async def test_failures_are_the_answers_that_the_judge_refused(imported: Imported) -> None:
    assert imported.report.failures == len(_scored(imported, 0))
    questions = imported.recorded.questions()
    answers = await answer_ids(imported.store, imported.report.trace_id, questions)
    page = await imported.store.failures(imported.report.trace_id, 1_000)
    externals: list[Any] = await imported.store.get(Label.VARIABLE, [failure.question_id for failure in page.items])
    for failure, question in zip(page.items, externals, strict=True):
        assert failure.answer_id == answers[question.external_id]
        assert failure.question
        assert failure.gold_answers


async def test_right_answers_are_those_that_the_judge_accepted(imported: Imported) -> None:
    answers = await elements(imported.store, Variable, imported.report.trace_id, ["Answer"])
    said = Counter(answer.right for answer in answers if answer.right is not None)
    assert said == {True: len(_scored(imported, 1)), False: len(_scored(imported, 0))}


async def test_importing_again_changes_nothing(imported: Imported) -> None:
    before = await imported.store.stats(imported.report.trace_id)
    again = await import_path(imported.store, imported.path)
    assert again.created == {}
    assert again.existing["Variable"] == imported.report.created["Variable"]
    assert (await imported.store.stats(imported.report.trace_id)).labels == before.labels


def _stages(database: Database) -> list[Path]:
    """All stages; on Neo4j the first and the last."""
    stages = trace_files("stages")
    assert len(stages) == 3
    return stages if isinstance(database, SqliteDatabase) else stages[::2]


@dataclass(frozen=True, slots=True)
class Grown:
    """A trace that was imported stage by stage."""

    stages: list[Path]
    store: GraphStore
    reports: list[ImportReport]


@pytest_asyncio.fixture(scope="module")
async def grown(database: Database) -> AsyncIterator[Grown]:
    """On each engine."""
    stages, store = _stages(database), database.project(f"grown-{os.getpid()}")
    yield Grown(stages, store, reports := [await import_path(store, stage) for stage in stages])
    await store.delete_trace(reports[0].trace_id)


async def test_stages_grow_into_the_same_graph(database: Database, grown: Grown) -> None:
    last, whole = grown.reports[-1], database.project(f"whole-{os.getpid()}")
    alone = await import_path(whole, grown.stages[-1])
    try:
        for label in (Label.SESSION, Label.OPERATION, Label.VARIABLE, Label.DERIVATION):
            left = [_without_ids(item) async for item in in_trace(grown.store, label, last.trace_id)]
            right = [_without_ids(item) async for item in in_trace(whole, label, alone.trace_id)]
            assert left == right
        assert await _failures(grown.store, last.trace_id) == await _failures(whole, alone.trace_id)
    finally:
        await whole.delete_trace(alone.trace_id)


async def test_stages_have_the_ids_of_the_last_one(grown: Grown) -> None:
    """In one project: the graph that grew knows all ids of the last stage, so importing that once more adds none."""
    assert len({report.trace_id for report in grown.reports}) == 1
    assert all(report.created for report in grown.reports)
    assert (await import_path(grown.store, grown.stages[0])).created == {}
    assert (await import_path(grown.store, grown.stages[-1])).created == {}


def _without_ids(element: Any) -> list[Any]:
    """What must be equal in two projects: all but ids, which hold the project."""
    names = [name for name in type(element).__slots__ if not name.endswith("id") or name == "external_id"]
    return [getattr(element, name) for name in names if name not in {"source", "target", "revision_of"}]


async def _failures(store: GraphStore, trace_id: str) -> list[tuple[str, str | None, tuple[str, ...]]]:
    page = await store.failures(trace_id, 1_000)
    return sorted((failure.question, failure.prediction, failure.gold_answers) for failure in page.items)


async def test_annotations_become_failures_with_a_human_verdict(database: Database) -> None:
    folder = data_folder()
    assert folder is not None
    path = folder / "bench" / "rag" / "locomo-1.json.zst"
    recorded = RecordedFile(path)
    annotations = {a["query_id"]: a for a in recorded.raw["data"]["annotations"]}
    store = database.project(f"annotated-{os.getpid()}")
    report = await import_path(store, path)
    try:
        answers = await answer_ids(store, report.trace_id, recorded.questions())
        page = await store.failures(report.trace_id, 1_000)
        annotated = [failure for failure in page.items if failure.origin == "annotation"]
        assert len(annotated) == len(annotations) < len(page.items)
        verdicts = {a.failure_id: a for a in await store.attributions([failure.id for failure in annotated])}
        operations = {o.id: o.external_id for o in await elements(store, Operation, report.trace_id)}
        for failure in annotated:
            (question,) = await store.get(Label.VARIABLE, [failure.question_id])
            assert isinstance(question, Variable)
            record = annotations[question.external_id]
            verdict = verdicts[failure.id]
            assert verdict.method == "human"
            assert verdict.error_type == record["final_error_type"]
            operation = verdict.operation_id
            assert (None if operation is None else operations[operation]) == record["final_op_id"]
            assert failure.answer_id == answers[question.external_id]
            assert list(failure.gold_answers) == record["golden_answers"]
            evidence: list[Any] = await store.get(Label.VARIABLE, failure.evidence_ids)
            assert [message.external_id for message in evidence] == record["source_evidence_ids"]
        out = io.BytesIO()
        await export_trace(store, report.trace_id, out)
        assert msgspec.json.decode(out.getvalue()) == recorded.raw
    finally:
        await store.delete_trace(report.trace_id)


async def test_traces_of_one_file_in_two_projects_know_nothing_of_each_other(database: Database) -> None:
    path = min(trace_files("traces"), key=lambda path: path.stat().st_size)
    left, right = database.project(f"left-{os.getpid()}"), database.project(f"right-{os.getpid()}")
    reports = [await import_path(left, path), await import_path(right, path)]
    assert reports[0].trace_id != reports[1].trace_id
    assert reports[0].created == reports[1].created
    assert await left.get(Label.TRACE, [reports[1].trace_id]) == []
    await left.delete_trace(reports[0].trace_id)
    (kept,) = await right.get(Label.TRACE, [reports[1].trace_id])
    assert isinstance(kept, Trace)
    assert (await right.stats(kept.id)).labels["Variable"] == reports[1].created["Variable"]
    await right.delete_trace(kept.id)
