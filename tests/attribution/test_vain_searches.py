"""Searches that found nothing: limits that were recorded, and units that such a search should have found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attribution.trace.graph import TraceGraph
from attribution.trace.vain_searches import attributes, found_nothing, limits, says, sees_all, units_at, vain_searches
from schema.kinds import OperationKind, VariableKind
from schema.models import Operation, Variable
from store.contract.protocol import Database
from tests.factory import TraceBuilder


@pytest.mark.parametrize("text", ["", " ", "[]", "{}", "()", "null", "None", "[None]", '""', "[[], {}]", "null,"])
def test_an_empty_result_says_nothing(text: str) -> None:
    assert not says(text)


@pytest.mark.parametrize("text", ["tea", "0", "[0]", "no", "nothing", "[null, 1]", "…", "-"])
def test_another_result_says_something(text: str) -> None:
    assert says(text)


def operation(said: Any) -> Operation:
    return TraceBuilder("p").operation("search", kind=OperationKind.RETRIEVAL, attributes=json.dumps(said))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({}, ""),
        ([1], ""),
        ({"store": "s", "top_k": 5}, ""),
        ({"filters": {"user_id": "mara", "year": 2024}}, "user_id=mara, year=2024"),
        ({"filter": "year > 2024"}, "filter=year > 2024"),
        ({"namespace": "notes", "threshold": 0.5, "offset": 10}, "namespace=notes, threshold=0.5, offset=10"),
        ({"namespace": "", "threshold": 0, "offset": None, "filters": {}}, ""),
        ({"offset": 2, "filters": {"a": None}}, "a=null, offset=2"),
        ({"namespace": ["a", "b"]}, 'namespace=["a","b"]'),
        ({"filter": "x" * 80}, "filter=" + "x" * 80),
        ({"filter": "x" * 81}, "filter=" + "x" * 79 + "…"),
    ],
)
def test_limits_are_told_in_one_order(said: Any, told: str) -> None:
    assert limits(operation(said)) == told
    assert attributes(operation(said)) == (said if isinstance(said, dict) else {})


class Memory:
    """A trace with two units, which are in the store ``s``, and a search."""

    def __init__(self, project: str) -> None:
        self.builder = TraceBuilder(project)
        self.builder.session("talk")
        self.message = self.builder.variable("message", "tea", kind=VariableKind.MESSAGE)
        self.question = self.builder.variable("question", "what?", kind=VariableKind.QUERY)
        self.units = [self.unit("one", "s", "notes/1"), self.unit("two", "s", "other/2")]

    def unit(self, name: str, store: str | None, store_id: str) -> Variable:
        add = self.builder.operation(f"add {name}", kind=OperationKind.EXTRACTION)
        said = {"store": store, "storeId": store_id} if store else {}
        made = self.builder.variable(name, f"unit {name}", add, attributes=json.dumps(said))
        self.builder.derive(made, self.message, by=add)
        return made

    def search(self, said: Any, *used: Variable, found: str | None = None) -> Operation:
        search = self.builder.operation(
            f"search {len(self.builder.operations)}", kind=OperationKind.RETRIEVAL, attributes=json.dumps(said)
        )
        self.builder.use(search, self.question, *used)
        asked = f"query {search.external_id}"
        self.builder.variable(asked, "what", search, kind=VariableKind.REFINED_QUERY)
        if found is not None:
            self.builder.variable(f"found {search.external_id}", found, search, kind=VariableKind.RETRIEVAL_RESULT)
        return search


CASES: list[tuple[dict[str, Any], bool]] = [
    ({"store": "s"}, True),
    ({}, False),
    ({"store": "other"}, False),
    ({"store": "s", "threshold": 0.5}, False),
    ({"store": "s", "threshold": 0}, True),
    ({"store": "s", "offset": 10}, False),
    ({"store": "s", "offset": 0}, True),
    ({"store": "s", "filter": "year > 2024"}, False),
    ({"store": "s", "filters": {}}, True),
    ({"store": "s", "filters": {"user_id": "mara"}}, True),
    ({"store": "s", "filter": {"agent_id": "a"}}, True),
    ({"store": "s", "filters": {"year": 2024}}, False),
    ({"store": "s", "filters": {"user_id": "mara", "year": 2024}}, False),
    ({"store": "s", "filters": {"user_id": "mara", "run_id": "r"}}, False),
    ({"store": "s", "filters": {"user_id": "mara"}, "filter": {"year": 2024}}, False),
    ({"store": "s", "namespace": "notes"}, True),
    ({"store": "s", "namespace": "note"}, False),
    ({"store": "s", "namespace": "nowhere"}, False),
    ({"store": "s", "namespace": ""}, True),
]


async def test_a_search_without_limits_should_have_found_the_units_of_its_store(sqlite_database: Database) -> None:
    memory = Memory("sees")
    searches = [memory.search(said) for said, _ in CASES]
    weighed = memory.search({"store": "s"}, memory.units[0])
    store = sqlite_database.project("sees")
    await memory.builder.write(store)
    graph = await TraceGraph.load(store, memory.builder.trace.id)
    units = [one.id for one in memory.units]
    assert [sees_all(graph, one.id, units) for one in searches] == [sees for _, sees in CASES]
    assert not sees_all(graph, weighed.id, units)
    assert not sees_all(graph, searches[0].id, [])
    of_notes = next(one for one, (said, _) in zip(searches, CASES, strict=True) if said.get("namespace") == "notes")
    assert [sees_all(graph, of_notes.id, [one]) for one in units] == [True, False]


async def test_only_searches_with_limits_that_found_nothing_were_in_vain(sqlite_database: Database) -> None:
    memory = Memory("vain")
    limited = {"store": "s", "threshold": 0.9}
    empty, none = memory.search(limited, found="[]"), memory.search(limited)
    found, unlimited = memory.search(limited, found="tea"), memory.search({"store": "s"}, found="[]")
    last = memory.builder.operation("forget", kind=OperationKind.DELETION)
    memory.builder.invalidate(last, *memory.units)
    after = memory.search(limited, found="[]")
    store = sqlite_database.project("vain")
    await memory.builder.write(store)
    graph = await TraceGraph.load(store, memory.builder.trace.id)
    assert [found_nothing(graph, one.id) for one in (empty, none, found, unlimited)] == [True, True, False, True]
    assert [one.id for one in vain_searches(graph)] == [empty.id, none.id]
    assert set(units_at(graph, empty.sequence)) == {one.id for one in memory.units}
    assert units_at(graph, after.sequence) == []
    assert units_at(graph, 0) == []
