"""An agent of LangChain with tools, unchanged: its messages are dictionaries, as LangChain's documentation has them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.environments import params_of
from tests.sdk.instruments.running import Run, check_whole
from tests.sdk.instruments.unchanged import both, complaints, names, past

FACT, QUESTION = "Goat cheese is made by Piet.", "Who makes the goat cheese?"


def script(body: dict[str, Any]) -> str | dict[str, Any]:
    last = body["messages"][-1]
    if last["role"] == "tool":
        return "It is Piet." if "Piet" in last["content"] else "Noted."
    text = last["content"]
    tool, arguments = ("search_notes", {"query": text}) if text.endswith("?") else ("save_note", {"note": text})
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"content": "", "tool_calls": [{"id": f"call_{tool}", "type": "function", "function": function}]}


@pytest.fixture(scope="module", params=params_of("langchain"))
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    return both("langchain_tools.py", request.param, script, tmp_path_factory.mktemp("tools"))


def test_the_program_notices_nothing(runs: tuple[Run, Run]) -> None:
    without, recorded = runs
    assert recorded.said == without.said
    assert not complaints(without, recorded)
    check_whole(recorded)


def test_what_a_user_says_is_a_message(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    assert [event["value"] for event in recorded.variables("Message")] == [FACT, QUESTION]
    answers = recorded.variables("Answer")
    assert [event["value"] for event in answers] == ["Noted.", "It is Piet."]
    for answer, said in zip(answers, (FACT, QUESTION), strict=True):
        assert past(recorded, answer, "Message") == {said}


def test_a_state_that_the_model_reads_whole_is_not_cut(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    assert not [name for name in names(recorded) if name.startswith("Deletion")]
    assert {event["value"] for event in recorded.variables("Prompt")} == {"You keep notes for a farm shop."}
