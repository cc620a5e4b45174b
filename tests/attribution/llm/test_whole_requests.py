"""All that a model is asked, and the verdict that its answers give, for each method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attribution.run import Options, attribute
from attribution.trace.graph import TraceGraph
from attribution.verdicts.verdict import Method
from schema.models import as_json
from store.contract.protocol import GraphStore
from store.open import open_database
from tests.attribution.flow import stories as flow
from tests.attribution.llm.conftest import Clients
from tests.attribution.llm.judging import judging
from tests.attribution.llm.story import Story, tell
from tests.attribution.llm.test_walk import GOLD, OTHERS, QUESTION, SAID, UNIT
from tests.attribution.report.memory import MADE
from tests.expected import compare
from tests.llm_server import LlmServer, Script, call, give, say

Scripted = Callable[[Story], list[Script]]


def _explores(story: Story) -> list[Script]:
    """Looks with each tool, proposes what is wrong, and is told why."""
    wrong = story.proposal(operation="op999")
    return [
        call(("search", {"words": "march 2025"}), ("look_at_operation", {"operation": story.op("update")})),
        call(("look_at_variable", {"variable": story.v("unit")}), ("look_at_variable", {"variable": "v999"})),
        call(("no_such_tool", {}), ("search", "no JSON")),
        call(("propose_verdict", wrong)),
        say("I think it is the update."),
        call(("propose_verdict", story.proposal())),
    ]


def _says_at_once(story: Story) -> list[Script]:
    return [give(story.proposal(error_type="NoSuchError")), give(story.proposal())]


def _judges(_: Story) -> list[Script]:
    return [judging(lambda kind, data: say("I can't tell."))]


CASES: dict[str, tuple[Method, Scripted, dict[str, Any]]] = {
    "llm": (Method.LLM, _explores, {}),
    "llm-without-gold-answers": (Method.LLM, _explores, {"gold_free": True}),
    "oneshot": (Method.ONESHOT, _says_at_once, {}),
    "oneshot-without-evidence": (Method.ONESHOT, _says_at_once, {"retrieve_evidence": True}),
    "walk": (Method.WALK, _judges, {}),
    "auto": (Method.AUTO, _judges, {}),
}


async def _month(store: GraphStore) -> Story:
    """An update drops a month; see ``tests.attribution.llm.story``."""
    story = await tell(store)
    return replace(story, failures=story.failures[:1])


async def _festival(store: GraphStore) -> Story:
    """A unit says in other words what the answer needed."""
    told = flow.Story.of(store.project_id, SAID, *OTHERS)
    failure = told.ask(QUESTION, GOLD, "At a party.", [told.store(0, UNIT)])
    await told.trace.write(store)
    graph = await TraceGraph.load(store, told.trace.trace.id)
    operations = {one.external_id: one for one in told.trace.operations}
    return Story(graph, [failure], operations, {one.external_id: one for one in told.trace.variables})


def _new(bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each request what the request before did not say: further messages, and members that differ."""
    found, before = [], dict[str, Any]()
    for body in bodies:
        known = before.get("messages", [])
        told = body["messages"]
        told = told[len(known) :] if told[: len(known)] == known else told
        found.append({name: one for name, one in body.items() if one != before.get(name)} | {"messages": told})
        before = body
    return found


@pytest.mark.parametrize("name", CASES)
async def test_requests(clients: Clients, server: LlmServer, tmp_path: Path, name: str) -> None:
    method, scripted, ways = CASES[name]
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}") as database:
        store = database.project("whole")
        story = await (_festival if method in {Method.WALK, Method.AUTO} else _month)(store)
        server.script(*scripted(story), repeat=True)
        llm = clients.settings(retries=0)
        options = Options(method=method, llm=llm, replies=tmp_path / "replies", concurrency=1, **ways)
        (outcome,) = [one async for one in attribute(story.graph.store, story.failures, options)]
    assert {one.path for one in server.requests} == {"/v1/chat/completions"}
    asked = _new([one.body for one in server.requests])
    verdict = as_json(replace(outcome.attribution, seconds=0.0, created_at=MADE))
    names = {one.id: f"<Variable {key}>" for key, one in story.variables.items()}
    names |= {one.id: f"<Operation {key}>" for key, one in story.operations.items()}
    compare(__file__, f"{name}.json", {"requests": asked, "verdict": verdict}, names)
