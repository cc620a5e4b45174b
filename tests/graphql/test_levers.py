"""Levers in GraphQL are the levers of a report, on each engine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.graphql.world import World, make_world
from tests.server.running import RunningServer

pytestmark = pytest.mark.one_engine

_LEVERS = """query($p: String!, $s: String, $t: String, $n: Int! = 100) { project(name: $p) {
  levers(source: $s, trace: $t, first: $n) {
    kind label name failures of rate low high settings errorTypes { errorType count } } } }"""


@pytest.fixture(scope="module")
def world(server: RunningServer) -> World:
    """A project of its own, because verdicts of other modules would change the levers."""
    return make_world(server, f"{server.project}-levers")


def _levers(world: World, **variables: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.ask(_LEVERS, {"p": world.project, **variables})["project"]["levers"]
    return found


def _report(world: World, *options: str) -> list[dict[str, Any]]:
    made = world.server.place.here("report", "--json", "--project", world.project, *options)
    found: list[dict[str, Any]] = json.loads(made.stdout)["levers"]
    return found


def test_they_are_those_of_the_report(world: World) -> None:
    found = _levers(world)
    assert {one["kind"] for one in found} >= {"prompt", "settings"}
    for source, options in ((None, ()), ("flow", ("--source", "flow"))):
        expected = [
            {
                "kind": one["kind"],
                "label": one["share"]["label"],
                "name": one["share"]["key"].split(":")[-1] if one["kind"] != "data" else None,
                "failures": one["share"]["count"],
                "of": one["share"]["total"],
                **{name: one["share"][name] for name in ("rate", "low", "high")},
                "settings": one["settings"],
                "errorTypes": [{"errorType": name, "count": count} for name, count in one["errorTypes"].items()],
            }
            for one in _report(world, *options)
        ]
        assert _levers(world, s=source) == expected
        assert _levers(world, s=source, n=1) == expected[:1]
    assert _levers(world, t=world.ids["trace"]) == found
    assert _levers(world, s="nobody") == []


def test_what_they_may_be_asked_is_bounded(world: World) -> None:
    for number in (0, -1, 501):
        answer = world.answer(_LEVERS, {"p": world.project, "n": number})
        assert answer["errors"][0]["extensions"]["code"] == "BAD_INPUT", number
    assert _levers(world, t="no such trace") == []
