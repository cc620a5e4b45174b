"""The objects of py2neo for notebooks, on a real server: it reads one project, and writes nothing."""

from __future__ import annotations

import gc
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

pytest.importorskip("py2neo", reason="the extra notebook-objects is not installed")

from memtrace.notebook import MemTraceGraph
from memtrace.notebook.place import place_of
from py2neo import ClientError, Node

from api.settings.loading import load_settings
from api.settings.loading import place_of as place_of_platform
from store.contract.answers import Direction
from store.neo4j.database import Neo4jDatabase
from store.neo4j.health import PRUNING_WALK
from tests.data import ROOT
from tests.investigation import QUESTION, Investigation, ask, investigate
from tests.neo4j_server import Neo4jServer

# py2neo leaves a socket to the garbage collector where a connection fails.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Sockets that are left are collected here, where their warnings are expected, and not in a later test."""
    yield
    gc.collect()


def bolt(server: Neo4jServer) -> str:
    return "bolt" + server.uri[server.uri.index("://") :]


@pytest_asyncio.fixture(scope="module")
async def seeded(neo4j_database: Neo4jDatabase) -> Investigation:
    """What is looked into."""
    return await investigate(neo4j_database)


@pytest.fixture(scope="module")
def graph(neo4j_server: Neo4jServer, seeded: Investigation) -> Iterator[MemTraceGraph]:
    """The project."""
    with MemTraceGraph(bolt(neo4j_server), neo4j_server.user, neo4j_server.password, seeded.project) as opened:
        yield opened


def test_rows_are_a_data_frame(graph: MemTraceGraph) -> None:
    frame = graph.query(
        "MATCH (f:Failure {projectId: $project}) WHERE f.question = $question "
        "RETURN f.question AS question, f.createdAt AS at, [f.createdAt] AS times, size(f.evidenceIds) AS evidence",
        question=QUESTION,
    )
    assert list(frame.columns) == ["question", "at", "times", "evidence"]
    (row,) = frame.to_dict("records")
    assert (row["question"], row["evidence"]) == (QUESTION, 1)
    assert isinstance(row["at"], datetime)
    assert row["at"].utcoffset() == timedelta(0)
    assert row["times"] == [row["at"]]


def test_times_are_those_of_python(graph: MemTraceGraph) -> None:
    frame = graph.query(
        "RETURN $project AS project, date('2026-03-01') AS day, {at: localtime('12:30')} AS map, "
        "[datetime('2026-03-01T12:30:15.123456+02:00')] AS moments, duration('P1M2DT3S') AS long"
    )
    (row,) = frame.to_dict("records")
    assert (row["day"], row["map"], row["long"]) == (date(2026, 3, 1), {"at": time(12, 30)}, "P1M2DT3S")
    assert row["moments"] == [datetime(2026, 3, 1, 10, 30, 15, 123456, UTC)]


def test_no_rows_are_a_data_frame_with_columns(graph: MemTraceGraph) -> None:
    frame = graph.query("MATCH (n:Nothing {projectId: $project}) RETURN n.a AS a, n.b AS b")
    assert (len(frame), list(frame.columns)) == (0, ["a", "b"])


@pytest.mark.parametrize("direction", [Direction.BACKWARD, Direction.FORWARD])
async def test_a_closure_is_that_of_the_store(
    graph: MemTraceGraph, seeded: Investigation, neo4j_database: Neo4jDatabase, direction: Direction
) -> None:
    root = seeded.answer if direction is Direction.BACKWARD else seeded.unit
    found = graph.closure(root, "backward" if direction is Direction.BACKWARD else "forward")
    closure = await neo4j_database.project(seeded.project).closure([root], direction)
    assert {node["id"] for node in found.nodes} == {variable.id for variable in closure.variables}
    assert {edge["id"] for edge in found.relationships} == {edge.id for edge in closure.derivations}
    assert len(found.nodes) > 3


async def test_a_closure_visits_each_variable_once(neo4j_server: Neo4jServer, seeded: Investigation) -> None:
    texts = list(files("memtrace.notebook").joinpath("queries").iterdir())
    assert len(texts) == 2
    for text in texts:
        asked = await ask(neo4j_server, text.read_text("utf-8"), id=seeded.answer, project=seeded.project)
        assert PRUNING_WALK in asked.operators


def test_objects_know_what_they_are_related_to(graph: MemTraceGraph, seeded: Investigation) -> None:
    operation = graph.operation(seeded.operation)
    assert operation.kind == "Update"
    unit = next(variable for variable in operation.made if variable.kind == "MemoryUnit")
    assert [one.id for one in unit.made_by] == [operation.id]
    assert [one.id for one in unit.version_before] == [seeded.unit]
    assert [one.id for one in graph.variable(seeded.unit).version_after] == [unit.id]
    assert operation.id in {one.id for source in operation.used for one in source.used_by}


def test_other_projects_are_not_seen(graph: MemTraceGraph, seeded: Investigation, neo4j_server: Neo4jServer) -> None:
    with MemTraceGraph(bolt(neo4j_server), neo4j_server.user, neo4j_server.password, "none") as other:
        assert len(other.query("MATCH (v:Variable {projectId: $project}) RETURN v.id AS id LIMIT 5")) == 0
        for read in (other.variable, other.closure):
            with pytest.raises(LookupError, match="no variable"):
                read(seeded.answer)
        with pytest.raises(LookupError, match="no operation"):
            other.operation(seeded.operation)
    with pytest.raises(ValueError, match="not bound to the project"):
        graph.query("MATCH (v:Variable) RETURN v LIMIT 1")
    with pytest.raises(ValueError, match="the project is that of this graph"):
        graph.query("RETURN $project AS p", project="none")
    with pytest.raises(ValueError, match="sideways"):
        graph.closure(seeded.answer, "sideways")  # type: ignore[arg-type]


def test_nothing_can_be_written(graph: MemTraceGraph, seeded: Investigation) -> None:
    variable = graph.variable(seeded.answer)
    variable.name = "changed"
    node = Node("Refused", id="refused")
    writes: list[Any] = [
        lambda: graph.query("CREATE (n:Refused {projectId: $project}) RETURN n"),
        lambda: graph.graph.run("CREATE (n:Refused)"),
        lambda: graph.graph.update("CREATE (n:Refused)"),
        lambda: graph.graph.create(node),
        lambda: graph.graph.merge(node, "Refused", "id"),
        lambda: graph.graph.push(variable),
        lambda: graph.graph.begin(readonly=False).run("CREATE (n:Refused)"),
        lambda: graph.graph.auto(readonly=False).run("CREATE (n:Refused)"),
    ]
    for write in writes:
        with pytest.raises(ClientError, match="read access mode"):
            write()
    assert graph.graph.evaluate("MATCH (n:Refused) RETURN count(n)") == 0


@pytest.mark.parametrize(
    ("missing", "extra", "read"), [("py2neo", "notebook-objects", "MemTraceGraph"), ("pandas", "notebook", "Project")]
)
def test_the_extra_is_named_where_it_is_missing(missing: str, extra: str, read: str) -> None:
    program = f"import sys; sys.modules[{missing!r}] = None; from memtrace.notebook import {read}"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{missing} is missing: install the extra {extra} " in done.stderr


@pytest.mark.parametrize(
    "uri", ["neo4j://127.0.0.1:7687", "sqlite:///memtrace.db", "http://127.0.0.1:7474", "127.0.0.1"]
)
def test_an_address_that_py2neo_can_not_use_is_refused(uri: str) -> None:
    with pytest.raises(ValueError, match="bolt://host:port"):
        MemTraceGraph(uri, "neo4j", "s3cret-word")


@pytest.mark.parametrize("project", ["", "a b", ".hidden", "x" * 129])
def test_a_name_that_no_project_has_is_refused(project: str) -> None:
    with pytest.raises(ValueError, match="none can be called"):
        MemTraceGraph("bolt://127.0.0.1:1", "neo4j", "s3cret-word", project)


def test_no_error_shows_a_password(neo4j_server: Neo4jServer, graph: MemTraceGraph) -> None:
    with pytest.raises(ValueError, match="without user and password") as refused:
        MemTraceGraph("bolt://neo4j:s3cret-word@127.0.0.1:7687", "neo4j", "")
    with pytest.raises(ConnectionError, match="refuses the user name or the password") as wrong:
        MemTraceGraph(bolt(neo4j_server), "neo4j", "s3cret-word")
    with pytest.raises(ConnectionError, match="can't be reached"):
        MemTraceGraph("bolt://127.0.0.1:1", "neo4j", "s3cret-word")
    assert "s3cret-word" not in str(refused.value) + str(wrong.value)
    assert neo4j_server.password not in repr(graph)


@contextmanager
def newer_server() -> Iterator[str]:
    """A server that agrees to no version of Bolt that it is offered."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(20)
                connection.sendall(bytes(4))

        thread = threading.Thread(target=refuse)
        thread.start()
        yield f"bolt://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def test_a_server_that_speaks_newer_bolt_only_is_named() -> None:
    with newer_server() as uri, pytest.raises(ConnectionError, match=r"Bolt 4\.3 or older"):
        MemTraceGraph(uri, "neo4j", "secret")


def test_the_environment_says_where(
    neo4j_server: Neo4jServer, seeded: Investigation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMTRACE_STORE", raising=False)
    for store in ("", "sqlite:///memtrace.db"):
        monkeypatch.setenv("MEMTRACE_STORE", store)
        with pytest.raises(ValueError, match="MEMTRACE_STORE"):
            MemTraceGraph.from_environment()
    monkeypatch.setenv("MEMTRACE_STORE", "neo4j" + bolt(neo4j_server).removeprefix("bolt"))
    monkeypatch.setenv("MEMTRACE_NEO4J_USER", neo4j_server.user)
    monkeypatch.setenv("MEMTRACE_NEO4J_PASSWORD", neo4j_server.password)
    monkeypatch.setenv("MEMTRACE_PROJECT", seeded.project)
    with MemTraceGraph.from_environment() as graph:
        assert graph.variable(seeded.answer).kind == "Answer"
    with MemTraceGraph.from_environment("none") as graph:
        assert graph.project == "none"


_MAPPED = {"uri": "bolt+s://eu", "user": "reader", "database": "eu", "projects": ["p"], "values": "file:///values"}


@pytest.mark.parametrize(
    ("environment", "file"),
    [
        ({"STORE": "bolt://a:1", "NEO4J_PASSWORD": "word"}, ""),
        ({"STORE": "bolt://a:1", "NEO4J_USER": "u", "NEO4J_PASSWORD_FILE": "SECRET", "NEO4J_DATABASE": "d"}, ""),
        ({"STORE": "bolt://a:1", "NEO4J_PASSWORD": "word", "NEO4J_PASSWORD_FILE": "SECRET"}, 'store = "bolt://b:1"'),
        ({"STORE": "", "NEO4J_USER": ""}, 'store = "bolt://b:1"\nneo4j_user = "u"\nneo4j_password_file = "SECRET"'),
        ({"STORES": json.dumps({"eu": _MAPPED | {"password_file": "SECRET"}})}, 'store = "bolt://b:1"'),
        ({"STORES": json.dumps({"eu": _MAPPED | {"projects": ["q"]}}), "STORE": "bolt://a:1"}, ""),
        (
            {"STORE": "bolt://a:1"},
            '[stores.eu]\nuri = "bolt://eu"\nprojects = ["p"]\nvalues = "file:///v"\npassword_file = "SECRET"',
        ),
    ],
)
def test_the_place_is_that_of_the_command_line(
    environment: dict[str, str], file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("from a file\n", "utf-8")
    for name in [name for name in os.environ if name.startswith("MEMTRACE_")]:
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(f"MEMTRACE_{name}", value.replace("SECRET", str(secret)))
    if file:
        (tmp_path / "settings.toml").write_text(file.replace("SECRET", str(secret)), "utf-8")
        monkeypatch.setenv("MEMTRACE_CONFIG", str(tmp_path / "settings.toml"))
    uri, credentials, database = place_of_platform(load_settings(), "p")
    assert credentials is not None
    assert place_of("p") == (uri, credentials.user, credentials.password, database)


@pytest.mark.parametrize(
    ("environment", "problem"),
    [
        ({"CONFIG": "none.toml"}, "none.toml can't be read: No such file"),
        ({"STORE": "bolt://a:1", "NEO4J_PASSWORD_FILE": "none"}, "none can't be read: No such file"),
        ({"STORES": "[s3cret-word"}, "settings: stores: "),
        ({"STORES": '{"eu": {"uri": "bolt://eu", "projects": "s3cret-word"}}'}, "settings: stores.eu.projects: "),
    ],
)
def test_a_setting_that_can_not_be_used_is_named(
    environment: dict[str, str], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(f"MEMTRACE_{name}", value)
    with pytest.raises(ValueError, match=re.escape(problem)) as raised:
        MemTraceGraph.from_environment()
    assert "s3cret-word" not in str(raised.value)


def test_a_project_on_a_store_of_its_own(
    neo4j_server: Neo4jServer, seeded: Investigation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.touch(mode=0o600)
    secret.write_text(neo4j_server.password, "utf-8")
    place = {"uri": bolt(neo4j_server), "user": neo4j_server.user, "database": "neo4j", "password_file": str(secret)}
    stores = {"eu": place | {"values": (tmp_path / "values").as_uri(), "projects": [seeded.project]}}
    monkeypatch.setenv("MEMTRACE_STORE", "sqlite:///memtrace.db")
    monkeypatch.setenv("MEMTRACE_STORES", json.dumps(stores))
    with MemTraceGraph.from_environment(seeded.project) as graph:
        assert graph.variable(seeded.answer).kind == "Answer"
    with pytest.raises(ValueError, match="MEMTRACE_STORE"):
        MemTraceGraph.from_environment("none")
