"""Memories written by tool calls: the model's reply, the tool and the write are one chain, a later reply is no part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import Tried, recorded, tried
from tests.sdk.instruments.running import Run, check_whole


def call(tool: str, **arguments: str) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": f"call_{tool}", "type": "function", "function": function}]}


def script(body: dict[str, Any]) -> str | dict[str, Any]:
    spoken = [one for one in body["messages"] if one["role"] != "system"]
    said, is_first = str(spoken[0]["content"]), len(spoken) == 1
    if said.startswith("What does"):
        return call("look", query="what the brother keeps") if is_first else "He keeps animals."
    if said.startswith("Where does"):
        return call("look", query="where the boat lies") if is_first else "It lies in a port."
    if not is_first:
        return "Noted, thank you."
    if "bees" in said:
        return call("note", key="brother", text="The brother Jonas keeps animals.")
    place = "lies in Bergen" if "Bergen" in said else "lies in a port"
    return call("note", key="boat", text=f"The boat Heron {place}.")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("memory_tools.py", "langchain", script, tmp_path_factory.mktemp("tools"))


def made_by(run: Run, found: Tried) -> list[str]:
    """The values that the blamed operation made."""
    assert found.blamed is not None
    return [one["value"] for one in run.variables() if one.get("operation") == found.blamed.external_id]


def test_each_step_is_recorded_once_and_searches_leave_no_traces(run: Run) -> None:
    check_whole(run)
    assert len(run.of("trace")) == 1
    nodes = [one for one in run.of("operationStarted") if one.get("category") == "node"]
    assert [one["name"] for one in nodes] == ["think", "act", "think"] * 5


@pytest.mark.parametrize(
    ("answer", "asked", "gold", "error", "written"),
    [
        ("He keeps animals.", "What does", "Bees", "ExtractionError", "The brother Jonas keeps animals."),
        ("It lies in a port.", "Where does", "Stavanger", "UpdateError", "The boat Heron lies in a port."),
    ],
)
async def test_the_reply_that_wrote_it_is_blamed(
    run: Run, answer: str, asked: str, gold: str, error: str, written: str, tmp_path: Path
) -> None:
    found = await tried(run, tmp_path, answer, gold)
    assert found.question.startswith(asked)  # what the user asked, not what the model searched for
    assert found.said == (error, "Generation", "ChatOpenAI")
    (made,) = made_by(run, found)
    assert written in made
