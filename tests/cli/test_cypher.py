"""`memtrace cypher` on a real server: results, and refused queries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import neo4j
import pytest
import pytest_asyncio
from neo4j.spatial import WGS84Point
from neo4j.time import Date, DateTime, Duration, Time

from api.cli.errors import UsageError
from api.cli.query import _parameter
from store.neo4j import query
from store.neo4j.database import Neo4jDatabase
from store.neo4j.query import json_value
from tests.cli.conftest import Cli
from tests.contract.samples import assistant
from tests.neo4j_server import Neo4jServer

READS = "MATCH (v:Variable {projectId: $project}) WHERE v.name = $name RETURN v.name AS name, v.version AS version"


@pytest_asyncio.fixture(scope="module")
async def project(neo4j_database: Neo4jDatabase) -> str:
    """A project with one trace."""
    trace = assistant(f"test-{uuid4().hex}")
    await trace.write(neo4j_database.project(trace.project))
    return trace.project


@pytest.fixture
def ask(neo4j_server: Neo4jServer, project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Commands on the project in Neo4j."""
    monkeypatch.setenv("MEMTRACE_NEO4J_USER", neo4j_server.user)
    monkeypatch.setenv("MEMTRACE_NEO4J_PASSWORD", neo4j_server.password)
    monkeypatch.setenv("MEMTRACE_VALUES", (tmp_path / "values").as_uri())
    monkeypatch.setenv("MEMTRACE_PROJECT", project)
    return Cli(neo4j_server.uri)


def some(queries: Sequence[Any]) -> list[Any]:
    """Queries for a test: the first in `make test`, all in `make test-all`."""
    first, *others = queries
    rest = (one if isinstance(one, tuple) else (one,) for one in others)
    return [first, *(pytest.param(*one, marks=pytest.mark.full) for one in rest)]


def counted(server: Neo4jServer, text: str) -> int:
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        return int(driver.execute_query(text, routing_="r").records[0][0])


def test_rows_are_a_table(ask: Cli) -> None:
    shown = ask("cypher", f"{READS}, v.occurrence AS again ORDER BY v.sequence", "-p", "name=note").out
    assert [line.split() for line in shown.splitlines()] == [
        ["name", "version", "again"],
        ["note", "0", "0"],
        ["note", "1", "0"],
        ["note", "1", "1"],
    ]


def test_rows_are_json(ask: Cli) -> None:
    found = ask("cypher", READS, "-p", "$name=question", "--json").json
    assert found == {"columns": ["name", "version"], "rows": [{"name": "question", "version": 0}], "truncated": False}
    found = ask("cypher", READS, "-p", "name=question", "--json", "--project", "none").json
    assert found == {"columns": ["name", "version"], "rows": [], "truncated": False}


def test_the_project_is_a_parameter(ask: Cli, project: str) -> None:
    assert ask("cypher", "RETURN $project AS p", "--json").json["rows"] == [{"p": project}]
    assert ask("cypher", "RETURN $project AS p", "--json", "--project", "x").json["rows"] == [{"p": "x"}]
    assert ask("cypher", "RETURN $project AS p", "--json", "-p", "project=y").json["rows"] == [{"p": "y"}]


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("a", "a"),
        ("1", 1),
        ("1.5", 1.5),
        ('"1"', "1"),
        ("null", None),
        ("true", True),
        ('[1, "x"]', [1, "x"]),
        ('{"b": {"c": 2}}', {"b": {"c": 2}}),
        ("{b: 1}", "{b: 1}"),
        ("x=y", "x=y"),
        ("", ""),
    ],
)
def test_a_parameter_is_json_or_text(given: str, value: Any) -> None:
    assert _parameter(f"x={given}") == ("x", value)


def test_parameters_and_values_come_through(ask: Cli) -> None:
    text = "RETURN $x AS x, datetime('2026-03-01T12:30:15.123456Z') AS at, point({longitude: 5, latitude: 60}) AS here"
    assert ask("cypher", text, "-p", 'x={"b": [1, "ä"]}', "--json").json["rows"] == [
        {
            "x": {"b": [1, "ä"]},
            "at": "2026-03-01T12:30:15.123456Z",
            "here": {"srid": 4326, "coordinates": [5.0, 60.0]},
        }
    ]


@pytest.mark.parametrize("given", ["x", "=1", "a b=1", "$=1", "`x`=1"])
def test_a_parameter_has_a_name(given: str) -> None:
    with pytest.raises(UsageError, match="NAME=VALUE"):
        _parameter(given)


def test_standard_input_may_hold_the_query(ask: Cli) -> None:
    assert ask("cypher", "-", "--json", input="RETURN 'ä' AS x;\n".encode()).json["rows"] == [{"x": "ä"}]
    assert "not UTF-8" in ask("cypher", "-", input=b"RETURN '\xff'", code=4).err
    assert "no query" in ask("cypher", "-", input=b" \n", code=2).err


def test_nodes_relationships_and_paths_are_objects(ask: Cli) -> None:
    text = (
        "MATCH path = (f:Failure {projectId: $project})-[asked:ASKED]->(q) "
        "RETURN f, asked, path, [q] AS list, {of: f.question} AS map"
    )
    found = ask("cypher", text, "--json").json["rows"][0]
    assert found["f"]["labels"] == ["Failure"]
    assert found["f"]["properties"]["question"] == "Where does Mia live?"
    assert found["list"][0]["labels"] == ["Query", "Variable"]
    asked = found["asked"]
    assert (asked["type"], asked["start"]) == ("ASKED", found["f"]["elementId"])
    assert asked["end"] == found["list"][0]["elementId"]
    assert found["path"] == {"nodes": [found["f"], found["list"][0]], "relationships": [asked]}
    assert found["map"] == {"of": "Where does Mia live?"}
    shown = ask("cypher", text).out
    assert "(:Failure " in shown
    assert "[:ASKED]" in shown
    forward, back = "(:Failure {projectId: $project})-[:ASKED]->()", "(:Query {projectId: $project})<-[:ASKED]-()"
    assert "-[:ASKED]->(:Query:Variable" in ask("cypher", f"MATCH p={forward} RETURN p LIMIT 1").out
    assert "<-[:ASKED]-(:Failure" in ask("cypher", f"MATCH p={back} RETURN p LIMIT 1").out


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (DateTime.from_iso_format("2026-03-01T12:30:15.123456Z"), "2026-03-01T12:30:15.123456Z"),
        (DateTime.from_iso_format("2026-03-01T12:30:15.000000+02:00"), "2026-03-01T10:30:15.000000Z"),
        (DateTime.from_iso_format("2026-03-01T12:30:15.000000001Z"), "2026-03-01T12:30:15.000000001Z"),
        (DateTime(2026, 3, 1, 12, 30, 15), "2026-03-01T12:30:15.000000000"),
        (Date(2026, 3, 1), "2026-03-01"),
        (Time(12, 30), "12:30:00.000000000"),
        (Duration(days=1, seconds=2), "P1DT2S"),
        (WGS84Point((5, 60)), {"srid": 4326, "coordinates": [5.0, 60.0]}),
        (2**63 - 1, 2**63 - 1),
        ([None, {"a": Date(2026, 3, 1)}], [None, {"a": "2026-03-01"}]),
    ],
)
def test_values_are_json(value: Any, expected: Any) -> None:
    assert json_value(value) == expected


def test_what_is_no_number_is_null(ask: Cli) -> None:
    assert ask("cypher", "RETURN 0.0/0.0 AS x", "--json").json["rows"] == [{"x": None}]


def test_what_is_shown_can_not_steer_the_terminal(ask: Cli) -> None:
    shown = ask("cypher", "RETURN $x AS `a\u001b[1m\nb`, [$x] AS list", "-p", "x=\u001b[31mred\nline").out
    assert "\u001b" not in shown
    assert len(shown.splitlines()) == 2


def test_rows_have_a_limit(ask: Cli) -> None:
    text = "UNWIND range(1, 3000) AS x RETURN x"
    found = ask("cypher", text, "--json", "--limit", "2")
    assert found.json == {"columns": ["x"], "rows": [{"x": 1}, {"x": 2}], "truncated": True}
    assert "more than these 2 rows" in found.err
    found = ask("cypher", text, "--json")
    assert (len(found.json["rows"]), found.json["truncated"]) == (1000, True)
    found = ask("cypher", text, "--json", "--limit", "3000")
    assert (len(found.json["rows"]), found.json["truncated"], found.err) == (3000, False, "")
    ask("cypher", text, "--limit", "0", code=2)


def test_bytes_have_a_limit(ask: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "MOST_BYTES", 10_000)
    said = ask("cypher", "UNWIND range(1, 3000) AS x RETURN [y IN range(1, 500) | y] AS xs", code=1).err
    assert "the answer has more than 10,000 bytes after 5 rows: return less" in said


def test_memory_has_a_limit(ask: Cli) -> None:
    text = "UNWIND range(1, 1000000000) AS x WITH collect(x) AS xs RETURN size(xs)"
    assert "more memory than the server allows" in ask("cypher", text, "--seconds", "300", code=1).err


def test_time_has_a_limit(ask: Cli) -> None:
    endless = "UNWIND range(1, 1000000000) AS x UNWIND range(1, 1000000000) AS y RETURN count(*)"
    assert "longer than 0.2 seconds" in ask("cypher", endless, "--seconds", "0.2", code=1).err
    ask("cypher", "RETURN 1", "--seconds", "0", code=2)


WRITES = [
    "CREATE (n:Refused) RETURN n",
    "MERGE (n:Refused {a: 1})",
    "MATCH (n:Variable) SET n.refused = 1",
    "MATCH (n:Variable) REMOVE n.name",
    "MATCH (n:Variable) DETACH DELETE n",
    "MATCH (n:Variable) FOREACH (x IN [1] | SET n.refused = x)",
    "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS",
    "CALL db.createLabel('Refused')",
    "CREATE INDEX refused FOR (n:Refused) ON (n.a)",
    "DROP CONSTRAINT variable_id IF EXISTS",
    "CREATE USER refused SET PASSWORD 'refused-password'",
]
OTHERS = [
    ("LOAD CSV FROM 'file:///etc/hosts' AS line RETURN line", "LOAD CSV"),
    ("CALL () { LOAD CSV FROM 'http://localhost/' AS l RETURN l } RETURN l", "LOAD CSV"),
    ("MATCH (n) CALL (n) { RETURN 1 AS x } IN TRANSACTIONS RETURN x", "transactions of its own"),
    ("CALL dbms.listConfig()", "dbms.listConfig"),
    ("CALL dbms.killConnection('none')", "dbms.killConnection"),
    ("MATCH (n:Nothing) CALL dbms.listConfig() YIELD name RETURN name", "dbms.listConfig"),
    ("SHOW TRANSACTIONS", "of the server"),
    ("SHOW SETTINGS", "of the server"),
    ("SHOW USERS", "refused"),
    ("TERMINATE TRANSACTIONS 'neo4j-transaction-0'", "transactions of others"),
]


@pytest.mark.parametrize("text", some(WRITES))
def test_writes_are_refused(ask: Cli, neo4j_server: Neo4jServer, text: str) -> None:
    assert "refused" in ask("cypher", text, code=4).err
    assert counted(neo4j_server, "MATCH (n:Refused) RETURN count(n)") == 0


@pytest.mark.parametrize("text", some(WRITES))
def test_the_server_refuses_writes_too(ask: Cli, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(query, "_refuse", lambda summary: None)
    assert "read access mode" in ask("cypher", text, code=4).err


@pytest.mark.parametrize(("text", "why"), some(OTHERS))
def test_what_reads_more_than_the_graph_is_refused(ask: Cli, text: str, why: str) -> None:
    message = ask("cypher", text, code=4).err
    assert "refused" in message
    assert why in message


@pytest.mark.parametrize(
    "text",
    some(
        [
            "CALL db.labels() YIELD label RETURN label",
            "SHOW INDEXES YIELD name RETURN name",
            "CALL db.index.fulltext.queryNodes('variable_words', 'oslo') YIELD node RETURN node.name",
            "CYPHER runtime=slotted RETURN 1",
            "// a comment\nRETURN 1",
        ]
    ),
)
def test_what_only_reads_the_graph_is_run(ask: Cli, text: str) -> None:
    assert ask("cypher", text, "--json").json["rows"]


def test_a_wrong_query_says_where(ask: Cli) -> None:
    assert "(line 1, column 8)" in ask("cypher", "RETURN ,", code=4).err
    assert "(line 2, column 10)" in ask("cypher", "MATCH (n)\n RETURN  )", code=4).err
    assert "x" in ask("cypher", "RETURN $x", code=4).err
    assert "one statement" in ask("cypher", "RETURN 1; RETURN 2", code=4).err


def test_no_rows_are_said(ask: Cli) -> None:
    found = ask("cypher", "MATCH (n:Nothing) RETURN n")
    assert (found.out, found.err) == ("", "The query gave no rows.\n")


def test_a_file_can_not_be_asked(cli: Cli) -> None:
    assert "Neo4j store" in cli("cypher", "RETURN 1", code=2).err
    assert "Neo4j store" in cli.plain("cypher", "RETURN 1", code=2).err


def test_a_refused_password_is_not_shown(ask: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRACE_NEO4J_PASSWORD", "wrong-s3cret")
    result = ask("cypher", "RETURN 1", code=5)
    assert "wrong-s3cret" not in result.err + result.out
