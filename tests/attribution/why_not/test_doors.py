"""The command line, GraphQL and reports tell the same, on both engines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Any, cast

import msgspec
import pytest

import api.graphql.why_not
from api.auth.access import Access, Principal
from api.graphql.context import Context
from api.http.platform import Platform
from api.settings import Settings
from attribution.report import html, markdown
from attribution.report.make import make
from attribution.report.model import ReportData
from attribution.run import Options, attribute
from attribution.why_not.find import why_not
from schema.control import Role
from schema.models import Failure
from store.contract.protocol import Database
from store.open import Credentials, open_database
from tests.attribution.flow.stories import Story
from tests.attribution.report.pages import Page
from tests.attribution.why_not import graphs
from tests.cli.conftest import Cli
from tests.graphql.built import SCHEMA
from tests.graphql.explained import explained
from tests.neo4j_server import Neo4jServer

pytestmark = pytest.mark.one_engine

GRAPHS = [graphs.retrieval, graphs.extraction, graphs.update, graphs.deletion, graphs.response, graphs.several]
Graph = Callable[[str], tuple[Story, Failure]]

_DOCUMENT = """query Why($project: String!, $id: String!) { project(name: $project) { failure(reference: $id) { whyNot {
  piece messageId messageExternalId messageLabel saidAfter
  errorType operationId operationExternalId operationName reason confidence
  heldCount considered returnedCount
  held { variableId externalId label quote confidence rank score returned operationId }
  returned { variableId externalId label text rank score holds operationId }
  extractions {
    operationId operationName sentences uncoveredCount
    uncovered { variableId text isPiece nearest } facts { variableId text }
  }
  changes {
    operationId operationName given { variableId text } candidatesCount added { variableId text }
    candidates { variableId externalId label fate old new newVariableId held holds }
  }
  context { variableId kind label characters offset quote before after }
} } } }"""


async def asked(database: Database, project: str, document: str, asker: str | None = None, **variables: Any) -> Any:
    """The answer to a document, asked by somebody who may read one project."""
    access = Access(database, Principal("test", {asker or project: Role.READER}))
    platform = Platform(Settings(), database, *(cast("Any", None),) * 9, explaining=explained(database))
    return await SCHEMA.execute(document, variables | {"project": project}, Context(platform, access, None))


async def written(database: Database, graph: Graph) -> Failure:
    """A failure that is written to a project of its own."""
    story, failure = graph(f"doors-{token_hex(4)}")
    await story.trace.write(database.project(story.trace.project))
    return failure


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda one: one.__name__)
async def test_graphql(database: Database, graph: Graph) -> None:
    failure = await written(database, graph)
    found = await asked(database, failure.project_id, _DOCUMENT, id=failure.id)
    assert found.errors is None, found.errors
    told = (await why_not(database.project(failure.project_id), [failure]))[failure.id]
    assert told
    assert found.data["project"]["failure"]["whyNot"] == _as_asked(msgspec.to_builtins(told))


def _as_asked(value: Any) -> Any:
    """The JSON of the command line as GraphQL calls it: the name of an operation leaves room for the operation."""
    if isinstance(value, list):
        return [_as_asked(one) for one in value]
    if isinstance(value, dict):
        return {{"operation": "operationName"}.get(name, name): _as_asked(one) for name, one in value.items()}
    return value


async def test_graphql_gives_what_is_named(database: Database) -> None:
    failure = await written(database, graphs.retrieval)
    document = """query($project: String!, $id: String!) { project(name: $project) { failure(reference: $id) { whyNot {
      operation { externalId } held { variable { externalId preview } }
    } } } }"""
    found = await asked(database, failure.project_id, document, id=failure.id)
    assert found.data["project"]["failure"]["whyNot"] == [
        {
            "operation": {"externalId": "search"},
            "held": [{"variable": {"externalId": "parrot-1", "preview": graphs.KNOWN}}],
        }
    ]


async def test_graphql_of_another_project(database: Database) -> None:
    failure = await written(database, graphs.retrieval)
    other = await written(database, graphs.retrieval)
    found = await asked(database, other.project_id, _DOCUMENT, id=failure.id)
    assert found.data["project"]["failure"] is None
    found = await asked(database, failure.project_id, _DOCUMENT, asker=other.project_id, id=failure.id)
    assert found.data["project"] is None
    own = await asked(database, other.project_id, _DOCUMENT, id=other.id)
    ids = {one.id for one in graphs.retrieval(failure.project_id)[0].trace.variables}
    assert own.data["project"]["failure"]["whyNot"]
    assert not any(id_ in str(own.data) for id_ in ids)


@pytest.mark.parametrize("bound", ["MAX_ELEMENTS", "MAX_BYTES"])
async def test_graphql_refuses_what_is_too_large(
    database: Database, bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = await written(database, graphs.retrieval)
    monkeypatch.setattr(api.graphql.why_not, bound, 5)
    found = await asked(database, failure.project_id, _DOCUMENT, id=failure.id)
    (error,) = found.errors
    assert error.extensions == {"code": "BAD_INPUT"}
    assert "memtrace why-not" in str(error)


async def reported(database: Database, graph: Graph) -> ReportData:
    """The report on a failure."""
    failure = await written(database, graph)
    store = database.project(failure.project_id)
    async for _ in attribute(store, [failure], Options()):
        pass
    data = await make(store, [failure])
    (case,) = data.cases
    assert case.why_not == (await why_not(store, [failure]))[failure.id]
    return msgspec.json.decode(msgspec.json.encode(data), type=ReportData)


_SAID = {
    "retrieval": "not returned, number 3 of 3, score 0.25",
    "extraction": "extract-unit left out 2 of 2 sentences",
    "update": "tidy up was shown 3 units",
    "deletion": "dropped, had it",
    "response": f"at character {len(graphs.MORE) + 1} of {len(graphs.MORE + graphs.KNOWN + graphs.OTHER) + 2} (",
    "several": "piece 2 of 2",
}


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda one: one.__name__)
async def test_reports(database: Database, graph: Graph) -> None:
    data = await reported(database, graph)
    page = Page(html.render(data))
    assert _SAID[graph.__name__] in page.text
    assert page.open == []
    assert _SAID[graph.__name__] in markdown.render(data).replace("\\", "")


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def engine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Commands on a store of each engine."""
    if request.param == "sqlite":
        return Cli(f"sqlite:///{tmp_path / 'test.db'}")
    request.getfixturevalue("neo4j_database")
    server: Neo4jServer = request.getfixturevalue("neo4j_server")
    monkeypatch.setenv("MEMTRACE_NEO4J_USER", server.user)
    monkeypatch.setenv("MEMTRACE_NEO4J_PASSWORD", server.password)
    monkeypatch.setenv("MEMTRACE_VALUES", (tmp_path / "values").as_uri())
    return Cli(server.uri)


def kept(cli: Cli, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> Failure:
    """A failure in the store that commands work on, in a project of its own."""
    story, failure = graph(f"doors-{token_hex(4)}")
    monkeypatch.setenv("MEMTRACE_PROJECT", failure.project_id)

    async def write() -> None:
        settings = {name: value for name, value in _environment().items() if value}
        credentials = Credentials(settings["USER"], settings["PASSWORD"]) if "PASSWORD" in settings else None
        async with await open_database(cli.store, settings.get("VALUES"), credentials) as opened:
            await story.trace.write(opened.project(failure.project_id))

    asyncio.run(write())
    return failure


def _environment() -> dict[str, str | None]:
    import os

    names = {"USER": "MEMTRACE_NEO4J_USER", "PASSWORD": "MEMTRACE_NEO4J_PASSWORD", "VALUES": "MEMTRACE_VALUES"}
    return {name: os.environ.get(variable) for name, variable in names.items()}


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda one: one.__name__)
def test_commands(engine: Cli, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = kept(engine, graph, monkeypatch)
    told = engine("why-not", failure.id[:10], "--json").json
    assert len(told) == (2 if graph is graphs.several else 1)
    for piece in told:
        assert {"piece", "held", "returned", "extractions", "changes", "context"} <= set(piece)
        assert all({"variableId", "rank", "score"} <= set(unit) for unit in piece["held"] + piece["returned"])
    shown = engine("why-not", failure.id).out
    assert _SAID[graph.__name__] in " ".join(shown.replace("│", " ").split())
    assert told[0]["piece"] in shown


def test_a_command_on_what_has_no_piece(engine: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_known(project: str) -> tuple[Story, Failure]:
        story = graphs.story(project, "unknown")
        return story, story.ask(graphs.QUESTION, graphs.NOTHING, "Darwin.", [story.store(0, graphs.KNOWN)])

    failure = kept(engine, nothing_known, monkeypatch)
    assert engine("why-not", failure.id, "--json").json == []
    assert f"memtrace why {failure.id[:8]}" in engine("why-not", failure.id).err
    engine("why-not", "0" * 12, code=3)
