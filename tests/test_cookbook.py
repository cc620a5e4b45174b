"""The queries of docs/cypher.md, run as they stand there."""

from __future__ import annotations

import re

import pytest
import pytest_asyncio

from attribution.blame.model import By
from attribution.blame.rank import blame, chosen_verdicts
from store.neo4j.database import Neo4jDatabase
from store.neo4j.health import PRUNING_WALK
from tests.data import ROOT
from tests.investigation import Investigation, ask, declared, investigate
from tests.neo4j_server import Neo4jServer

_PAGE = (ROOT / "docs" / "cypher.md").read_text("utf-8")
QUERIES = dict(re.findall(r"^### (.+?)\n.*?^```cypher\n(.*?)^```", _PAGE, re.DOTALL | re.MULTILINE))
WALKS = ("*0..", "*1..", "*]")


@pytest_asyncio.fixture(scope="module")
async def seeded(neo4j_database: Neo4jDatabase) -> Investigation:
    """What the queries are asked of."""
    return await investigate(neo4j_database)


def test_every_query_has_a_question_of_its_own() -> None:
    assert len(QUERIES) == _PAGE.count("```cypher\n") >= 25


@pytest.mark.parametrize("question", QUERIES)
def test_a_query_is_bound_to_a_project(question: str) -> None:
    text = QUERIES[question]
    assert "{projectId: $project" in text
    assert set(re.findall(r"\$(\w+)", text)) == {"project", *declared(text)}


@pytest.mark.full
@pytest.mark.parametrize("question", QUERIES)
async def test_a_query_finds_something(question: str, seeded: Investigation, neo4j_server: Neo4jServer) -> None:
    text = QUERIES[question]
    asked = await ask(neo4j_server, text, project=seeded.project, **declared(text))
    assert asked.rows
    assert any(value not in (None, []) for value in asked.rows[0].values())
    nothing = await ask(neo4j_server, text, **{**declared(text), "project": "none"})
    assert nothing.rows == []


@pytest.mark.full
async def test_harm_in_cypher_is_that_of_the_command(
    seeded: Investigation, neo4j_database: Neo4jDatabase, neo4j_server: Neo4jServer
) -> None:
    asked = await ask(neo4j_server, QUERIES["What did most harm?"], project=seeded.project)
    store = neo4j_database.project(seeded.project)
    ranked = (await blame(store, await chosen_verdicts(store), [By.OPERATION]))[By.OPERATION]
    assert len(ranked) >= 3
    assert any(one.passed for one in ranked)
    # The query rounds for people: a half may go either way.
    assert [(row["o.id"], row["passed"]) for row in asked.rows] == [(one.id, one.passed) for one in ranked]
    assert [row["failed"] for row in asked.rows] == pytest.approx([one.failed for one in ranked], abs=0.005001)
    assert [row["score"] for row in asked.rows] == pytest.approx([one.score for one in ranked], abs=0.0005001)


@pytest.mark.full
@pytest.mark.parametrize("question", QUERIES)
async def test_a_query_is_safe_on_a_large_graph(
    question: str, seeded: Investigation, neo4j_server: Neo4jServer
) -> None:
    text = QUERIES[question]
    asked = await ask(neo4j_server, text, project=seeded.project, **declared(text))
    walks = {name for name in asked.operators if name.startswith(("VarLength", "ShortestPath", "Repeat"))}
    assert walks <= {PRUNING_WALK, "ShortestPath"}
    assert bool(walks) is any(walk in text for walk in WALKS)
    assert not {"AllNodesScan", "NodeByLabelScan", "UnionNodeByLabelsScan"} & set(asked.operators)
