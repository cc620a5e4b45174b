"""A memory whose owner stands in the runtime context under a word of the program's own is one trace for each owner."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import recorded, tried
from tests.sdk.instruments.running import Run, check_whole

pytestmark = pytest.mark.full


def call(tool: str, **arguments: str) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": f"call_{tool}", "type": "function", "function": function}]}


def script(body: dict[str, Any]) -> str | dict[str, Any]:
    said, is_first = str(body["messages"][0]["content"]), len(body["messages"]) == 1
    if said.startswith("When"):
        if is_first:
            return call("look", word="boiler")
        notes = str(body["messages"][-1]["content"])
        return "It is drained in May." if "May" in notes else "It is drained on the ninth of June."
    if not is_first:
        return "Noted."
    key = "parrot" if "parrot" in said else "boiler"
    return call("note", key=key, text=said.replace("on the fourth of May", "in May"))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("houses.py", "langchain", script, tmp_path_factory.mktemp("houses"))


def test_each_house_has_one_trace_and_nothing_of_the_other(run: Run) -> None:
    check_whole(run)
    names = sorted(event["name"] for event in run.of("trace"))
    assert names == ["InMemoryStore: notes/inn", "InMemoryStore: notes/mill"]
    values: dict[str, str] = {}
    for event in run.variables():
        values[event["trace"]] = values.get(event["trace"], "") + event["value"]
    mill, inn = sorted(values.values(), key=lambda text: "Figaro" not in text)
    assert "June" not in mill
    assert "May" not in inn


async def test_the_reply_that_wrote_the_note_is_blamed(run: Run, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, "It is drained in May.", "On the fourth of May")
    assert found.said == ("ExtractionError", "Generation", "ChatOpenAI")
