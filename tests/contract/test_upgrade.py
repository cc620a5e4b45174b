"""Files and servers that an older version made."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw

from attribution.review.history import history
from attribution.review.people import record_verdict
from schema.kinds import VariableKind
from schema.migrations import migrations
from schema.models import Batch, Variable
from store.contract.answers import ALL_FAILURES, FailureFilter, FailureKey, FailureOrder, Label
from store.contract.protocol import Database, GraphStore
from store.contract.verdict_changes import read_said
from store.neo4j.database import Neo4jDatabase
from store.open import open_database
from store.retention import apply
from store.sqlite.queries import sql
from store.sqlite.tables import Table
from tests.contract.annotating import bench, failing, queue_of, says
from tests.contract.samples import assistant
from tests.contract.test_records import key
from tests.contract.test_retention import left, policy
from tests.factory import START, TraceBuilder

DAY = timedelta(days=1)


async def test_a_file_of_the_first_layout_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    first, *later = migrations("sqlite")
    connection = apsw.Connection(str(path))
    connection.execute(sql("migrations.create"))
    for statement in first.statements:
        connection.execute(statement)
    connection.execute(sql("tables.insert", Table.MIGRATION), (first.number, first.name, "2026-01-01T00:00:00.000000Z"))
    there = TraceBuilder("old", "there before").trace
    row = (bytes.fromhex(there.id), "old", there.external_id, there.name, there.source, 0, there.attributes)
    columns = "id, project, external_id, name, source, created_at, attributes"
    connection.execute(f"INSERT INTO trace ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    connection.close()
    before = datetime.now(UTC) - timedelta(seconds=1)
    trace = assistant("old")
    async with await open_database(f"sqlite:///{path}") as database:
        assert await database.migrate() == []
        health = await database.health()
        assert health.details["migrations"] == [one.name for one in (first, *later)]
        assert health.problems == []
        await trace.write(database.project("old"))
        await database.records("old").add_key(key("old"))
        await database.records("old").set_retention(policy("old"))
        (idle,) = (await database.project("old").idle_traces(datetime.now(UTC) + DAY, keep=1)).items
        assert (idle.trace.id, idle.written_at > before) == (there.id, True)
        assert await left(database.project("old")) == {"there before", "assistant"}
        assert (await apply(database.project("old"), database.records("old"))).traces == 0
    async with await open_database(f"sqlite:///{path}") as database:
        assert await database.project("old").get(Label.TRACE, [trace.trace.id]) == [trace.trace]
        assert await database.registry().key(key("old").id) == key("old")
        (period,) = await database.project("old").timeline(START, START + DAY, 24 * 3600)
        assert (period.traces, period.failures) == (1, 1)
        assert await database.project("old").delete_trace(trace.trace.id)
        assert (await database.records("old").keys()).items == [key("old")]


async def test_answers_of_failures_that_a_file_holds_were_judged_wrong(tmp_path: Path) -> None:
    path, trace = tmp_path / "old.db", assistant("old")
    async with await open_database(f"sqlite:///{path}") as database:
        await trace.write(database.project("old"))
    (last,) = (one for one in migrations("sqlite") if one.name == "right")
    connection = apsw.Connection(str(path))
    connection.execute("ALTER TABLE variable DROP COLUMN is_right")
    connection.execute("DELETE FROM migration WHERE number = ?", (last.number,))
    connection.close()
    async with await open_database(f"sqlite:///{path}") as database:
        found = await database.project("old").get(Label.VARIABLE, [one.id for one in trace.variables])
        assert found == trace.variables
        assert [one.name for one in trace.variables if one.right is False] == ["answer"]


async def test_verdicts_that_a_file_holds_say_nothing_of_pieces(tmp_path: Path) -> None:
    path, trace = tmp_path / "old.db", assistant("old")
    async with await open_database(f"sqlite:///{path}") as database:
        await trace.write(database.project("old"))
    later = [one for one in migrations("sqlite") if one.name in {"losses", "said"}]
    connection = apsw.Connection(str(path))
    for statement in (
        "DROP VIEW lost",
        "DROP INDEX attribution_of_failure",
        *(f"ALTER TABLE attribution DROP COLUMN {name}" for name in _NEW),
        "CREATE INDEX attribution_of_failure ON attribution (failure_k)",
    ):
        connection.execute(statement)
    for one in later:
        connection.execute("DELETE FROM migration WHERE number = ?", (one.number,))
    connection.close()
    async with await open_database(f"sqlite:///{path}") as database:
        await _say_nothing_of_pieces(database.project("old"), trace)


async def test_verdicts_that_a_file_holds_were_not_replayed(tmp_path: Path) -> None:
    path, trace = tmp_path / "old.db", assistant("old")
    async with await open_database(f"sqlite:///{path}") as database:
        await trace.write(database.project("old"))
    (last,) = (one for one in migrations("sqlite") if one.name == "proof")
    connection = apsw.Connection(str(path))
    connection.execute("ALTER TABLE attribution DROP COLUMN proof")
    connection.execute("DELETE FROM migration WHERE number = ?", (last.number,))
    connection.close()
    (verdict,) = trace.attributions
    assert verdict.proof is not None
    async with await open_database(f"sqlite:///{path}") as database:
        store = database.project("old")
        assert await store.attributions([verdict.failure_id]) == [replace(verdict, proof=None)]
        await store.write(Batch(trace.trace, attributions=[verdict]))
        assert await store.attributions([verdict.failure_id]) == [verdict]


async def test_what_a_file_holds_from_before_annotation_can_be_annotated(tmp_path: Path) -> None:
    path, trace = tmp_path / "old.db", failing("old", 2)
    judged = trace.failures[0]
    async with await open_database(f"sqlite:///{path}") as database:
        await trace.write(database.project("old"))
        await record_verdict(database.project("old"), says(judged.id, "before"), "Ada")
        await database.records("old").add_key(key("old"))
    (last,) = (one for one in migrations("sqlite") if one.name == "annotation")
    connection = apsw.Connection(str(path))
    for table in ("verdict_change", "annotation_queue", "assignment"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("ALTER TABLE api_key DROP COLUMN person")
    connection.execute("DELETE FROM migration WHERE number = ?", (last.number,))
    connection.close()
    async with await open_database(f"sqlite:///{path}") as database:
        await _annotated(database, "old", judged.id)


async def test_what_a_server_holds_from_before_annotation_can_be_annotated(
    neo4j_database: Neo4jDatabase, project: str
) -> None:
    trace = failing(project, 2)
    judged = trace.failures[0]
    await trace.write(neo4j_database.project(project))
    await record_verdict(neo4j_database.project(project), says(judged.id, "before"), "Ada")
    await neo4j_database.records(project).add_key(key(project))
    connection = neo4j_database._connection
    await connection.run_statement("MATCH (k:ApiKey {projectId: $id}) REMOVE k.person", id=project)
    statements = next(one.statements for one in migrations("neo4j") if one.name == "annotation")
    for statement in [*statements, *statements]:
        await connection.run_statement(statement)
    await _annotated(neo4j_database, project, judged.id)


async def _annotated(database: Database, project: str, judged: str) -> None:
    """Keys are nobody's, what was said once has a history of one, and queues can be made and worked on."""
    known = await database.registry().key(key(project).id)
    assert known is not None
    assert known.person is None
    store = database.project(project)
    (first,) = (await history(store, [judged]))[judged]
    assert (first.number, first.changed_by) == (1, "Ada")
    queue = await queue_of(database, project, annotators=1)
    for _ in queue.failure_ids:
        case = await bench(database, queue, "Ada").next()
        assert case is not None
        await bench(database, queue, "Ada").submit(says(case.failure.id, "after"))
    assert await bench(database, queue, "Ada").next() is None
    said = (await history(store, [judged]))[judged]
    assert [read_said(one.said or "").reason for one in said] == ["before", "after"]


_NEW = ("losses", "question_kind")


async def _say_nothing_of_pieces(store: GraphStore, trace: TraceBuilder) -> None:
    """Until they are given again."""
    (verdict,) = trace.attributions
    assert await store.attributions([verdict.failure_id]) == [replace(verdict, losses="[]", question_kind=None)]
    await trace.write(store)
    assert await store.attributions([verdict.failure_id]) == [verdict]


async def test_verdicts_that_a_server_holds_say_nothing_of_pieces(neo4j_database: Neo4jDatabase, project: str) -> None:
    store, trace = neo4j_database.project(project), assistant(project)
    await trace.write(store)
    connection = neo4j_database._connection
    await connection.run_statement(
        "MATCH (a:Attribution {traceId: $id}) REMOVE a.losses, a.questionKind", id=trace.trace.id
    )
    statements = next(one.statements for one in migrations("neo4j") if one.name == "losses")
    for statement in [*statements, *statements]:
        await connection.run_statement(statement)
    await _say_nothing_of_pieces(store, trace)


async def test_traces_of_an_older_server_count_as_written_at_the_migration(
    neo4j_database: Neo4jDatabase, project: str
) -> None:
    """What a killed migrator left is done again: each statement changes nothing the second time."""
    store = neo4j_database.project(project)
    old, new = assistant(project, "old"), assistant(project, "new")
    for trace in (old, new):
        await trace.write(store)
    connection = neo4j_database._connection
    await connection.run_statement("MATCH (t:Trace {id: $id}) REMOVE t.writtenAt", id=old.trace.id)
    (known,) = (await store.idle_traces(datetime.now(UTC) + DAY, datetime.now(UTC) + DAY)).items
    statements = next(one.statements for one in migrations("neo4j") if one.name == "retention")
    for statement in [*statements, *statements]:
        await connection.run_statement(statement)
    first, last = (await store.idle_traces(datetime.now(UTC) + DAY, datetime.now(UTC) + DAY)).items
    assert (first, last.trace) == (known, old.trace)
    await store.delete_trace(old.trace.id)
    assert await left(store) == {"new"}


async def test_answers_of_failures_that_a_server_holds_were_judged_wrong(
    neo4j_database: Neo4jDatabase, project: str
) -> None:
    store, trace = neo4j_database.project(project), assistant(project)
    await trace.write(store)
    connection = neo4j_database._connection
    await connection.run_statement("MATCH (v:Variable {traceId: $id}) REMOVE v.right", id=trace.trace.id)
    ids = [one.id for one in trace.variables]
    assert {one.right for one in await store.get(Label.VARIABLE, ids) if isinstance(one, Variable)} == {None}
    statements = next(one.statements for one in migrations("neo4j") if one.name == "right")
    for statement in [*statements, *statements]:
        await connection.run_statement(statement)
    assert await store.get(Label.VARIABLE, ids) == trace.variables


async def test_failures_that_a_server_holds_are_sorted_by_the_operation_at_fault(
    neo4j_database: Neo4jDatabase, project: str
) -> None:
    store, trace = neo4j_database.project(project), TraceBuilder(project, "old")
    for place, name in enumerate(("search", "extract", None, "answer")):
        operation = trace.operation(f"o{place}", name=name, category=None)
        failure = trace.failure(trace.variable(f"q{place}", f"What is {place}?", kind=VariableKind.QUERY))
        trace.attribution(failure, "flow", operation_id=operation.id if place != 2 else None)
    await trace.write(store)
    connection = neo4j_database._connection
    await connection.run_statement(
        "MATCH (a:Attribution {traceId: $id}) REMOVE a.operationName, a.operationKey, a.methodKey", id=trace.trace.id
    )
    statements = next(one.statements for one in migrations("neo4j") if one.name == "sorted")
    for statement in [*statements, *statements]:
        await connection.run_statement(statement)
    order = FailureOrder(FailureKey.OPERATION)
    search, extract, nobody, answer = trace.failures
    assert (await store.failures(None, 9, None, ALL_FAILURES, order)).items == [answer, extract, search, nobody]
    assert (await store.failures(None, 9, None, FailureFilter(operation="extract"))).items == [extract]
