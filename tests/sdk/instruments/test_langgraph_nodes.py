"""What a node of a graph calls belongs to that node: models, by whatever client, and memories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.mem0_model import model
from tests.sdk.instruments.running import Run, check_whole, run
from tests.sdk.instruments.unchanged import FAMILIES, both, complaints, past

ROOMS = 20


def script(body: dict[str, Any]) -> str:
    last = str(body["messages"][-1]["content"])
    return "<rooms>" if last.startswith("topic of: What") else f"re {last.rpartition('topic of: ')[2]}"


@pytest.fixture(scope="module", params=FAMILIES)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    return both("langgraph_nodes.py", request.param, script, tmp_path_factory.mktemp("nodes"))


def started(run: Run) -> dict[str, dict[str, Any]]:
    return {event["operation"]: event for event in run.of("operationStarted")}


def test_the_program_notices_nothing(runs: tuple[Run, Run]) -> None:
    without, recorded = runs
    assert recorded.said == without.said
    assert not complaints(without, recorded)
    check_whole(recorded)


def test_each_call_is_in_the_node_that_makes_it(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    operations = started(recorded)
    nodes = [event for event in operations.values() if event.get("category") == "node"]
    assert sorted(event["name"] for event in nodes) == ["answer"] * (2 + ROOMS) + ["classify"] * (2 + ROOMS)
    assert all(event["attributes"]["step"] > 0 for event in nodes)
    for name, node in (("openai chat", "classify"), ("ChatOpenAI", "answer")):
        calls = [event for event in operations.values() if event["name"] == name and "parent" in event]
        assert len(calls) == 2 + ROOMS
        for event in calls:
            around = operations[event["parent"]]
            assert (around["name"], around["trace"], around["session"]) == (node, event["trace"], event["session"])
    (alone,) = [event for event in operations.values() if event["name"] == "openai chat" and "parent" not in event]
    assert alone["trace"] not in {event["trace"] for event in nodes}


def test_conversations_do_not_mix(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    sessions = {event["session"]: event["name"] for event in recorded.of("session")}
    by_conversation: dict[str, set[str]] = {}
    for event in recorded.of("operationStarted"):
        if "parent" in event:
            by_conversation.setdefault(sessions[event["session"]], set()).add(event["trace"])
    assert len(by_conversation) == 1 + ROOMS
    assert all(len(traces) == 1 for traces in by_conversation.values())
    for number in range(ROOMS):
        question = f"What is in room number {number}?"
        (trace,) = by_conversation[question]
        values = [event["value"] for event in recorded.variables() if event["trace"] == trace]
        assert not [value for value in values if "room number" in value and question not in value]


def test_an_answer_derives_from_what_the_other_node_s_model_said(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    reply = next(
        event for event in recorded.variables("Response") if "pears" in event["value"] and "re re" in event["value"]
    )
    assert "re And the pears of Halina?" in past(recorded, reply, "Response")


@pytest.mark.full
def test_a_memory_that_a_node_uses_is_where_the_node_is(tmp_path: Path) -> None:
    with scripted_openai.running(model()) as server:
        options: dict[str, Any] = {"model": server.url, "more": {"OPENAI_API_BASE": server.url}}
        without = run("graph_mem0.py", "graph-mem0", folder=tmp_path / "without", instrument=None, **options)
        recorded = run("graph_mem0.py", "graph-mem0", folder=tmp_path / "with", **options)
    assert recorded.said == without.said
    check_whole(recorded)
    assert [event["name"] for event in recorded.of("trace")] == ["mem0: user_id=alice"]
    assert {"monday", "friday"} <= {event["name"] for event in recorded.of("session")}
    operations = started(recorded)
    for name in ("mem0 search", "mem0 add", "ChatOpenAI"):
        calls = [event for event in operations.values() if event["name"] == name]
        assert [operations[event["parent"]]["name"] for event in calls] == ["answer"] * 2
    last = [event["operation"] for event in operations.values() if event["name"] == "ChatOpenAI"][-1]
    (reply,) = [event for event in recorded.variables("Response") if event.get("operation") == last]
    assert past(recorded, reply, "MemoryUnit") == {"Lives in Berlin"}
    assert "I live in Berlin." in past(recorded, reply, "Message")
    assert past(recorded, reply, "Query") == {"Where does alice live?"}
