"""Stores that older versions made: the last version before 0.1.0 is opened as it is, an earlier one is refused."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import schema.migrations
from schema.errors import StoreError
from schema.migrations import Migration, migrations, too_old
from store.contract.answers import Label
from store.neo4j.database import Neo4jDatabase
from store.open import open_database
from store.sqlite.migrate import migrate
from tests.contract.samples import assistant

WAY_OUT = "from before MemTrace 0.1.0 and can't be brought up to date: export .*`memtrace export`"


def _count_as_applied(path: Path, last: int) -> None:
    """Rewrite the table of migrations as versions before 0.1.0 left it: one row for each number."""
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM migration")
    rows = ((number, f"step{number}", "2026-01-01T00:00:00.000000Z") for number in range(1, last + 1))
    connection.executemany("INSERT INTO migration VALUES (?, ?, ?)", rows)
    connection.close()


async def test_a_file_of_the_first_layout_is_brought_up_to_date(tmp_path: Path) -> None:
    path, trace, later = tmp_path / "old.db", assistant("old"), assistant("old", "later")
    async with await open_database(f"sqlite:///{path}") as database:
        await trace.write(database.project("old"))
    _count_as_applied(path, 9)
    connection = apsw.Connection(str(path))
    connection.execute("DROP INDEX operation_by_hex_id; DROP VIEW lost; CREATE VIEW lost AS SELECT 1 AS failure_id")
    connection.close()
    async with await open_database(f"sqlite:///{path}") as database:
        assert await database.migrate() == []
        assert await database.has_current_layout()
        health = await database.health()
        assert health.problems == []
        assert len(health.details["migrations"]) == 10
        await later.write(database.project("old"))
        ids = [trace.trace.id, later.trace.id]
        assert await database.project("old").get(Label.TRACE, ids) == [trace.trace, later.trace]
    connection = apsw.Connection(str(path))
    join = "SELECT o.kind FROM lost JOIN operation AS o ON lower(hex(o.id)) = lost.operation_id"
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {join}")]
    assert any("operation_by_hex_id" in line for line in plan)
    for row in connection.execute("SELECT operation_k, failure_k, attribution_k FROM lost"):
        assert None not in row
    connection.close()


@pytest.mark.parametrize("layout", [1, 8])
async def test_a_file_of_an_older_layout_says_what_to_do(tmp_path: Path, layout: int) -> None:
    path = tmp_path / "old.db"
    await (await open_database(f"sqlite:///{path}")).close()
    _count_as_applied(path, layout)
    with pytest.raises(StoreError, match=f"layout {layout} is {WAY_OUT}"):
        await open_database(f"sqlite:///{path}")


async def test_the_last_migration_tells_whether_a_layout_is_current(tmp_path: Path) -> None:
    path, last = tmp_path / "old.db", migrations("sqlite")[-1].number
    async with await open_database(f"sqlite:///{path}") as database:
        for number, is_current in ((last, True), (last - 1, False), (last + 1, False), (1, False)):
            _count_as_applied(path, number)
            assert await database.has_current_layout() is is_current


def test_a_journal_of_an_older_layout_says_what_to_do(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "journal"))
    assert migrate(connection, "journal") == ["0002_layout", "0003_dead_blocks"]
    connection.execute("DELETE FROM migration WHERE number > 2")
    connection.execute("UPDATE migration SET number = 1")
    with pytest.raises(StoreError, match=r"layout 1 is .*: run a worker of the version that wrote it"):
        migrate(connection, "journal")


@pytest.mark.parametrize("layout", ["sqlite", "neo4j", "journal"])
def test_only_layouts_before_the_first_file_are_too_old(layout: str) -> None:
    first = migrations(layout)[0].number
    assert too_old(layout, []) is None
    assert too_old(layout, range(1, first + 1)) is None
    assert too_old(layout, range(1, first)) is not None


async def test_a_migration_of_a_file_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, known = tmp_path / "new.db", migrations("sqlite")
    last = Migration(known[-1].number + 1, "broken", ("CREATE TABLE extra (k INTEGER)", "nonsense"))
    with monkeypatch.context() as patched:
        patched.setattr("store.sqlite.migrate.migrations", lambda _: (*known, last))
        with pytest.raises(StoreError, match="nonsense"):
            await open_database(f"sqlite:///{path}")
    async with await open_database(f"sqlite:///{path}") as database:
        assert await database.has_current_layout()
        assert (await database.health()).problems == []


async def test_a_server_of_the_last_layout_opens_unchanged(neo4j_database: Neo4jDatabase) -> None:
    """Versions before 0.1.0 left one node for each of seven migrations."""
    connection = neo4j_database._connection
    await connection.run_statement(
        "UNWIND range(1, 6) AS number MERGE (m:Migration {number: number}) SET m.name = 'step' + number"
    )
    try:
        assert await neo4j_database.migrate() == []
        assert await neo4j_database.has_current_layout()
        assert (await neo4j_database.health()).problems == []
    finally:
        await connection.run_statement("MATCH (m:Migration) WHERE m.number < 7 DELETE m")


async def test_a_server_of_an_older_layout_says_what_to_do(
    neo4j_database: Neo4jDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema.migrations, "migrations", lambda _: (Migration(8, "layout", ()),))
    with pytest.raises(StoreError, match=f"layout 7 is {WAY_OUT}"):
        await neo4j_database.migrate()
    with pytest.raises(StoreError, match=f"layout 7 is {WAY_OUT}"):
        await neo4j_database._connection.check_layout()


async def test_a_killed_migration_of_a_server_can_be_repeated(neo4j_database: Neo4jDatabase, project: str) -> None:
    """Each statement changes nothing the second time, also beside stored traces."""
    trace = assistant(project)
    await trace.write(neo4j_database.project(project))
    for migration in migrations("neo4j"):
        for statement in migration.statements:
            await neo4j_database._connection.run_statement(statement)
    assert await neo4j_database.project(project).get(Label.TRACE, [trace.trace.id]) == [trace.trace]
    assert (await neo4j_database.health()).problems == []
