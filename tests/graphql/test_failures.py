"""Lists of failures: orders, and invalid filters and cursors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attribution.verdicts.failure_columns import FAILURE_COLUMNS
from tests.graphql.world import World, make_world
from tests.server.running import RunningServer

pytestmark = pytest.mark.one_engine

_SORTED = """query($p: String!, $o: FailureOrder, $a: String, $n: Int! = 1, $f: FailureFilter) {
  project(name: $p) { failures(first: $n, after: $a, filter: $f, orderBy: $o) {
    nodes { id verdicts { method confidence errorType operation { name } } } pageInfo { endCursor } } } }"""


@pytest.fixture(scope="module")
def world(server: RunningServer) -> World:
    """The sample in a project of its own: other modules add failures, verdicts and right answers to the shared one."""
    return make_world(server, f"{server.project}-failures")


def _page(world: World, **variables: Any) -> dict[str, Any]:
    found: dict[str, Any] = world.ask(_SORTED, {"p": world.project, **variables})["project"]["failures"]
    return found


def _code(world: World, **variables: Any) -> str:
    error = world.answer(_SORTED, {"p": world.project, **variables})["errors"][0]
    return str(error["extensions"]["code"])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("by", ["time", "confidence", "errorType", "operation"])
def test_an_order_holds_over_pages(world: World, by: str, descending: bool) -> None:
    order = {"by": by, "descending": descending}
    whole = _page(world, o=order, n=100, f={"method": "flow"})["nodes"]
    listed: list[dict[str, Any]] = []
    after = None
    while True:
        page = _page(world, o=order, a=after, f={"method": "flow"})
        listed += page["nodes"]
        after = page["pageInfo"]["endCursor"]
        if after is None:
            break
    assert listed == whole
    verdicts = [one["verdicts"][0] for one in whole]
    said = [one["operation"]["name"] if by == "operation" else one.get(by) for one in verdicts]
    if by != "time":
        assert said == sorted(said, reverse=descending)


def test_a_cursor_is_of_one_order(world: World) -> None:
    cursor = _page(world, o={"by": "confidence"})["pageInfo"]["endCursor"]
    for order in ({"by": "confidence", "descending": True}, {"by": "time"}, None):
        assert _code(world, o=order, a=cursor) == "BAD_INPUT"
    assert _code(world, o={"by": "confidence"}, a=_page(world)["pageInfo"]["endCursor"]) == "BAD_INPUT"


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        ({"minConfidence": 0.8, "maxConfidence": 0.2}, "above maxConfidence"),
        ({"minConfidence": -0.1}, "from 0 to 1"),
        ({"maxConfidence": 1.0001}, "from 0 to 1"),
        ({"minConfidence": 1e308}, "from 0 to 1"),
        ({"minConfidence": 10**40}, "Float"),
        ({"minConfidence": "0.5"}, "Float"),
        ({"maxConfidence": "NaN"}, "Float"),
        ({"minConfidence": True}, "Float"),
        ({"minConfidence": [0.5, 0.6]}, "Float"),
        ({"minConfidence": {"least": 0.5}}, "Float"),
    ],
)
def test_bounds_that_are_none_are_told(world: World, bounds: dict[str, Any], told: str) -> None:
    answer = world.answer(_SORTED, {"p": world.project, "f": bounds})
    (error,) = answer["errors"]
    assert error["extensions"]["code"] == "BAD_INPUT", error
    assert told in error["message"], error


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_bound_that_is_no_number_of_json_is_told(world: World, number: str) -> None:
    variables = json.dumps({"p": world.project, "f": {"minConfidence": 0}}).replace(
        '"minConfidence": 0', f'"minConfidence": {number}'
    )
    body = f'{{"query": {json.dumps(_SORTED)}, "variables": {variables}}}'
    with world.server.client("reader", world.project) as client:
        answer = client.post("/graphql", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in {200, 400}, answer.text
        assert '"nodes"' not in answer.text
        literal = f"{{ project {{ failures(filter: {{minConfidence: {number}}}) {{ nodes {{ id }} }} }} }}"
        answer = client.post("/graphql", json={"query": literal})
        assert answer.status_code in {200, 400}, answer.text
        assert '"nodes"' not in answer.text


def test_bounds_that_are_the_ends_are_taken(world: World) -> None:
    assert len(_page(world, n=100, f={"minConfidence": 0, "maxConfidence": 1})["nodes"]) == 3
    assert _page(world, n=100, f={"minConfidence": None})["nodes"] == _page(world, n=100)["nodes"]


def test_every_column_of_the_declaration_is_answered(world: World) -> None:
    asked = " ".join(column.key for column in FAILURE_COLUMNS)
    document = (
        f"query($p: String!) {{ project(name: $p) {{ failures {{ nodes {{ {asked} "
        "questionVariable { externalId } answerVariable { externalId } } } } }"
    )
    nodes = world.ask(document, {"p": world.project})["project"]["failures"]["nodes"]
    assert nodes
    for node in nodes:
        assert node["questionExternalId"] == node["questionVariable"]["externalId"]
        assert node["answerExternalId"] == node["answerVariable"]["externalId"]
