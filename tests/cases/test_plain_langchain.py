"""Conversations with a model of LangChain that the program calls directly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import recorded, tried
from tests.environments import params_of
from tests.sdk.instruments.running import Run, check_whole


def script(body: dict[str, Any]) -> str | dict[str, Any]:
    last = str(body["messages"][-1]["content"])
    if last.startswith("Which box"):
        return "In box 5215."
    if last == "Good morning!":
        return "Hi."
    if last == "Look up Bo.":
        called = {"name": "card", "arguments": json.dumps({"name": "Bo"})}
        return {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": called}]}
    return f"Noted: {last}"


@pytest.fixture(scope="module", params=params_of("langchain", "langchain-0.3"))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("plain_langchain.py", request.param, script, tmp_path_factory.mktemp("plain"))


def test_users_say_messages_and_models_give_answers(run: Run) -> None:
    check_whole(run)
    spoken = {event["value"]: event["kind"] for event in run.of("variable") if event["name"] in {"human", "reply"}}
    told = [one for one in spoken if one in {"Good morning!", "Hi.", "Look up Bo."} or "41 kilos" in str(one)]
    assert [spoken.pop(one) for one in told] == ["Message", "Answer", "Message", "Answer"]
    spoken = {text: kind for text, kind in spoken.items() if "tool_calls" not in str(text)}
    assert spoken == {
        "My parcel is in box 5512, remember it.": "Message",
        "Noted: My parcel is in box 5512, remember it.": "Answer",
        "Tell me about kites.": "Message",
        "Noted: Tell me about kites.": "Answer",
        "Which box is my parcel in?": "Message",
        "In box 5215.": "Answer",
        "I am Ann.": "Message",
        "Noted: I am Ann.": "Answer",
        "Who am I?": "Message",
        "Noted: Who am I?": "Answer",
    }


def test_each_conversation_is_one_trace(run: Run) -> None:
    calls = [event["trace"] for event in run.of("operationStarted") if event["kind"] == "Generation"]
    tools = [event["trace"] for event in run.of("operationStarted") if event["kind"] == "Tool"]
    assert len(set(calls[:3])) == len(set(calls[3:5])) == len({*calls[5:], *tools}) == 1
    assert len({calls[0], calls[3], calls[5]}) == 3


async def test_the_model_that_was_given_the_fact_is_at_fault(run: Run, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, "In box 5215.", "5512")
    assert found.said == ("ResponseError", "Generation", "ChatOpenAI")
