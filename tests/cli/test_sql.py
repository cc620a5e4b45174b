"""`memtrace sql` and `memtrace query`: rows of the project, refused queries, and where a query comes from."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from api.cli.query import _parameter
from store.contract import asked
from store.open import open_database
from store.sqlite import query
from tests.cli.conftest import Cli
from tests.factory import TraceBuilder


@pytest.fixture(scope="module")
def two_projects(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A store with a trace in each of two projects."""
    cli = Cli(f"sqlite:///{tmp_path_factory.mktemp('sql') / 'two.db'}")

    async def write() -> None:
        async with await open_database(cli.store, create=True) as database:
            for project, texts in (("default", ["a", "b"]), ("other", ["c"])):
                trace = TraceBuilder(project, f"trace of {project}")
                for text in texts:
                    trace.variable(text, text, trace.operation(text))
                    trace.failure(trace.variables[-1])
                await trace.write(database.project(project))

    asyncio.run(write())
    return cli


@pytest.mark.parametrize("table", ["trace", "operation", "variable", "failure", "value"])
def test_a_query_sees_the_rows_of_the_project(two_projects: Cli, table: str) -> None:
    counts = [
        two_projects("sql", f"SELECT count(*) AS n FROM {table}", "--json", "--project", project).json["rows"][0]["n"]
        for project in ("default", "other", "nobody")
    ]
    assert counts == [1 if table == "trace" else 2, 1, 0]


def test_rows_are_a_table_and_json(two_projects: Cli) -> None:
    text = "SELECT question, :project AS project, :n AS n FROM failure ORDER BY question"
    found = two_projects("sql", text, "-p", "n=3", "--json").json
    assert found["columns"] == ["question", "project", "n"]
    assert [row["project"] for row in found["rows"]] == ["default", "default"]
    assert found["truncated"] is False
    table = two_projects("sql", text, "-p", ":n=3").out.splitlines()
    assert table[0].split() == ["question", "project", "n"]
    assert len(table) == 3
    some = two_projects("sql", text, "-p", "n=3", "--limit", "1", "--json")
    assert (len(some.json["rows"]), some.json["truncated"]) == (1, True)
    assert "gave no rows" in two_projects("sql", "SELECT 1 WHERE 0").err


def test_ids_are_texts_of_hexadecimal_digits(two_projects: Cli) -> None:
    (trace,) = two_projects("traces", "--json").json
    assert two_projects("sql", "SELECT id FROM trace", "--json").json["rows"] == [{"id": trace["id"]}]


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM main.failure",
        "UPDATE main.trace SET project = 'x'",
        "CREATE TABLE x (y)",
        "ATTACH 'x.db' AS x",
        "PRAGMA journal_mode = delete",
        "SELECT key_hash FROM api_key",
        "SELECT name FROM main.trace",
        "SELECT sql FROM main.sqlite_schema",
        "BEGIN",
    ],
)
def test_more_than_reading_the_project_is_refused(two_projects: Cli, text: str) -> None:
    assert "query" in two_projects("sql", text, code=4).err
    assert two_projects("sql", "SELECT count(*) AS n FROM failure", "--json").json["rows"] == [{"n": 2}]
    assert not Path("x.db").exists()


def test_a_wrong_query_says_what_there_is(two_projects: Cli) -> None:
    assert "did you mean failure?" in two_projects("sql", "SELECT * FROM failures", code=4).err
    assert "operation has k, id" in two_projects("sql", "SELECT nme FROM operation", code=4).err
    assert "-p x=VALUE" in two_projects("sql", "SELECT :x", code=4).err
    assert "numbers and texts" in two_projects("sql", "SELECT :x", "-p", "x=[1]", code=4).err
    assert "one statement" in two_projects("sql", "SELECT 1; SELECT 2", code=4).err


def test_bounds(two_projects: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT {} FROM c"
    assert "longer than" in two_projects("sql", endless.format("count(*)"), "--seconds", "0.05", code=1).err
    monkeypatch.setattr(query, "MOST_BYTES", 1000)
    assert "more than 1,000 bytes" in two_projects("sql", endless.format("x"), code=1).err
    assert asked.MOST_BYTES > 1000


def test_a_query_is_an_argument_a_file_or_standard_input(two_projects: Cli, tmp_path: Path) -> None:
    file = tmp_path / "count.sql"
    file.write_text("SELECT count(*) AS n FROM failure;\n-- the end\n")
    expected = [{"n": 2}]
    assert two_projects("sql", file, "--json").json["rows"] == expected
    assert two_projects("sql", "--json", input=file.read_bytes()).json["rows"] == expected
    assert two_projects("query", "-", "--json", input=file.read_bytes()).json["rows"] == expected
    assert "can't be read" in two_projects("sql", "none.sql", code=2).err
    assert "there is no query" in two_projects("sql", input=b" ", code=2).err
    assert "byte 0" in two_projects("sql", input=b"\xff", code=4).err
    assert _parameter("$a=b") == ("a", "b")


def test_the_other_language_leads_on(two_projects: Cli) -> None:
    assert "memtrace sql" in two_projects("cypher", "RETURN 1", code=2).err
    assert "Cypher needs a Neo4j store" in two_projects("query", "MATCH (n) RETURN n", code=2).err


def test_annotators_see_no_verdicts(two_projects: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRACE_PERSON", "ann")
    assert "annotators" in two_projects("sql", "SELECT 1", code=2).err
