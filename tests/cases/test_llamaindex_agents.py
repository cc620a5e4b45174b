"""LlamaIndex: an engine that finds nothing answers by itself, and an agent's tools write into an index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import recorded, tried
from tests.sdk.instruments.running import Run, check_whole

ANSWER = "She rests twice a day; the hours are not in the notes."


def call(tool: str, **arguments: str) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": f"call_{tool}", "type": "function", "function": function}]}


def script(body: dict[str, Any]) -> str | dict[str, Any]:
    last = body["messages"][-1]
    if last["role"] == "tool":
        return ANSWER if "twice" in str(last["content"]) else "It is kept."
    if "At which hours" in str(last["content"]):
        return call("look", query="Mrs Amundsen rest hours")
    return call("keep", fact="Mrs Amundsen rests twice a day.")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("llamaindex_agents.py", "langchain", script, tmp_path_factory.mktemp("agents"))


def test_the_answer_of_an_engine_and_the_calls_of_tools_are_replies(run: Run) -> None:
    check_whole(run)
    assert run.said == {"engine": "Empty Response", "agent": ANSWER}
    replies = [one["value"] for one in run.variables() if one["kind"] == "Response"]
    assert "Empty Response" in replies
    assert sum("tool_calls" in str(one) for one in replies) == 2
    assert not [one for one in run.variables() if one["kind"] == "Message" and not one["value"]]


async def test_a_filter_that_matches_nothing_is_blamed(run: Run, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, "Empty Response", "Ragnhild")
    assert found.said == ("RetrievalError", "Retrieval", "VectorIndexRetriever")
    assert "returned nothing, and was limited by (hall=north); 1 unit is recorded as stored" in found.verdict.reason


def test_what_a_tool_wrote_derives_from_the_reply_that_called_it(run: Run) -> None:
    replies = {
        one["variable"] for one in run.variables() if one["kind"] == "Response" and "tool_calls" in str(one["value"])
    }
    note = next(one for one in run.variables() if one["kind"] == "MemoryUnit" and "twice" in str(one["value"]))
    assert replies & {one["source"] for one in run.of("derived") if one["target"] == note["variable"]}


async def test_an_answer_that_left_out_what_its_history_had_is_blamed(run: Run, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, ANSWER, "at two and at nine o'clock")
    assert found.said == ("ResponseError", "Generation", "openai_llm")
