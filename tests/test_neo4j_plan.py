"""What the Cypher texts promise: closures that visit each variable once, and no text that is bound to no project."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from importlib.resources import files
from typing import Any

import pytest

from schema.control import JobState
from schema.words import phrases
from store.contract.answers import Direction, Label
from store.neo4j.database import Neo4jDatabase
from store.neo4j.find import lucene_query
from store.neo4j.health import CLOSURE_TEXTS, PRUNING_WALK
from store.neo4j.queries import FILLINGS, Sorting, cypher, sent
from store.shared.texts import placeholders

UNBOUND = {
    "annotation_now",
    "has_data",
    "indexes",
    "layout_version",
    "migration_constraint",
    "migration_done",
    "migration_lock",
    "migration_lock_constraint",
    "migration_unlock",
    "migrations_applied",
    "limits",
    "server",
}
"""Texts about the server, its clock and its layout, which belong to no project."""

BEFORE_A_PROJECT = "registry_"
"""How texts begin that ask whose key it is, or which job is next."""

PARAMETERS: dict[str, Any] = {
    "againAt": None,
    "among": [],
    "asked": {},
    "at": None,
    "bounds": {},
    "by": "time",
    "count": 1,
    "descending": False,
    "done": 0,
    "epoch": None,
    "error": None,
    "firstTrace": "",
    "hashes": [],
    "hops": 1,
    "id": "",
    "ids": [],
    "kind": None,
    "kinds": [],
    "last": "",
    "leaseUntil": None,
    "leftAt": None,
    "limit": 1,
    "name": "",
    "nodes": 1,
    "now": None,
    "owner": "",
    "place": 0,
    "projectId": "",
    "projects": None,
    "query": "",
    "result": None,
    "root": "",
    "roots": [],
    "rows": [],
    "since": None,
    "skip": 0,
    "stage": None,
    "start": 0,
    "state": "",
    "states": [],
    "total": None,
    "traceId": "",
    "traceIds": [],
    "until": 1,
    "untilId": "",
    "version": None,
    "wanted": {},
    "width": 1,
    "without": [],
}


def names() -> list[str]:
    found = (entry.name.partition(".") for entry in files("store.neo4j.queries").iterdir())
    return sorted(name for name, _, suffix in found if suffix == "cypher")


def content(name: str) -> str:
    return files("store.neo4j.queries").joinpath(f"{name}.cypher").read_text("utf-8")


ABOUT: dict[str, Iterable[StrEnum | None]] = {
    "closure": Direction,
    "closure_derivations": Direction,
    "delete_in_order": [Label.SESSION, Label.OPERATION, Label.VARIABLE],
    "delete_of_trace": [Label.FAILURE, Label.ATTRIBUTION],
    "derivations_of": Direction,
    "frontier": Direction,
    "get_derivations": [Label.DERIVATION],
    "get_nodes": [label for label in Label if label is not Label.DERIVATION],
    "nearest": Direction,
    "page_derivation": [Label.DERIVATION],
    "page_failure_by_confidence": [one for one in Sorting if "confidence" in one],
    "page_failure_by_name": [one for one in Sorting if "errorType" in one or "operation" in one],
    "page_failure_by_time": [Sorting.TIME, Sorting.TIME_DOWN],
    "page_failure_sorted": Sorting,
    "page_failure_without": Sorting,
    "page_operation": [Label.OPERATION],
    "page_session": [Label.SESSION],
    "page_variable": [Label.VARIABLE],
    "step": Direction,
}
"""What each template is about."""

PLANNED: list[tuple[str, StrEnum | None]] = [
    (name, about) for name in names() if name not in UNBOUND for about in ABOUT.get(name, [None])
]
BOUND = [text for text in PLANNED if not text[0].startswith(BEFORE_A_PROJECT)]


def test_the_templates_are_those_that_are_listed() -> None:
    found = {name: placeholders(content(name)) for name in names()}
    assert {name for name, words in found.items() if words} == ABOUT.keys()
    assert set().union(*found.values()) == set().union(*FILLINGS.values())


def test_a_text_that_is_about_something_unknown_is_refused() -> None:
    with pytest.raises(ValueError, match="no text is about"):
        cypher("step", JobState.QUEUED)
    with pytest.raises(ValueError, match="that has no from"):
        cypher("step", Label.VARIABLE)


def test_the_texts_without_a_project_exist() -> None:
    assert UNBOUND.issubset(names())


def test_every_statement_is_bound_to_a_project() -> None:
    bound = re.compile(r"projectId = \$projectId|projectId: \$projectId\}")
    statements = [(text, one) for text in BOUND for one in cypher(*text).split("UNION ALL")]
    assert [text for text, one in statements if not bound.search(one)] == []


@pytest.mark.parametrize(("name", "about"), CLOSURE_TEXTS)
async def test_a_closure_visits_each_variable_once(
    neo4j_database: Neo4jDatabase, name: str, about: StrEnum | None
) -> None:
    plan = await neo4j_database.plan(name, about, **PARAMETERS)
    assert PRUNING_WALK in plan
    assert not any(operator.startswith("VarLengthExpand") and operator != PRUNING_WALK for operator in plan)


def test_every_unbounded_walk_is_among_the_closures() -> None:
    assert {text for text in PLANNED if re.search(r"\*0\.\.|\)\*", cypher(*text))} == set(CLOSURE_TEXTS)


@pytest.mark.full
async def test_no_text_reads_all_of_a_label(neo4j_database: Neo4jDatabase) -> None:
    plans = [(text, await neo4j_database.plan(*text, **PARAMETERS)) for text in PLANNED]
    assert [text for text, plan in plans if any(operator.endswith("Scan") for operator in plan)] == []


def test_every_way_into_the_graph_names_its_index() -> None:
    """Else the server reads all of an index for each id as long as it remembers that index as empty."""
    for text in PLANNED:
        ways = re.findall(r"\bMATCH (?:p = )?\(\w*:", cypher(*text))
        assert (text, len(re.findall(r"\bUSING INDEX SEEK ", cypher(*text)))) == (text, len(ways))


def test_all_that_a_text_is_given_is_one_parameter() -> None:
    """Else the server would plan it anew for each length of what is asked for."""
    for text in PLANNED:
        assert set(re.findall(r"\$(\w+)", sent(*text))) <= {"given"}
        assert set(re.findall(r"\$given\.(\w+)", sent(*text))) == set(re.findall(r"\$(\w+)", cypher(*text)))


PAGES = ["api_key", "audit_entry", "derivation", "idle_trace", "job", "operation", "session", "variable"]


@pytest.mark.full
@pytest.mark.parametrize(("name", "about"), [text for text in PLANNED if text[0] in {f"page_{one}" for one in PAGES}])
async def test_a_page_comes_in_the_order_of_the_index(
    neo4j_database: Neo4jDatabase, name: str, about: StrEnum | None
) -> None:
    """Else all that comes after it is read and sorted for it."""
    plan = await neo4j_database.plan(name, about, **PARAMETERS)
    assert "PartialTop" in plan
    assert {"Sort", "Top"}.isdisjoint(plan)


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "about"), [text for text in PLANNED if re.fullmatch("page_failure(_by_.*|_without.*)?", text[0])]
)
async def test_failures_come_in_the_order_of_an_index(
    neo4j_database: Neo4jDatabase, name: str, about: StrEnum | None
) -> None:
    """A project may have very many; no more of them are read than a page shows, and the filter leaves out."""
    plan = await neo4j_database.plan(name, about, **PARAMETERS)
    assert "Limit" in plan
    assert {"Sort", "Top", "PartialSort", "PartialTop", "Distinct"}.isdisjoint(plan)


def test_a_query_of_lucene_quotes_each_phrase() -> None:
    wanted = phrases('AND user_name -x* "a b" title:z')
    assert lucene_query(wanted, ["ab12"]) == (
        '+scope:"ab12"^0 +terms:"and" +terms:"user name" +terms:"x" +terms:"a" +terms:"b" +terms:"title z"'
    )


async def test_the_layout_is_healthy(neo4j_database: Neo4jDatabase) -> None:
    health = await neo4j_database.health()
    assert (health.engine, health.problems) == ("neo4j", [])
    assert PRUNING_WALK in health.details["closurePlan"]
