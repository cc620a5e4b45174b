"""Programs with one summary, or with notes behind tools: questions have answers, and a check names the unseen notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cases.verdicts import checked, recorded

SUMMARIES = {
    "Quist": "Rehearsals are on Thursdays at St Luke. Lionel Quist keeps the spare scores.",
    "hall of St Luke": "Rehearsals are on Thursdays at St Luke.",
}


def summarise(body: dict[str, Any]) -> str:
    text = body["messages"][0]["content"]
    if "Write the new summary." in text:
        return next(summary for word, summary in SUMMARIES.items() if word in text)
    return "The summary does not say when." if "evening" in text else "The number is not known."


def test_the_first_question_to_a_summary_has_an_answer(tmp_path: Path) -> None:
    run = recorded("one_summary.py", "mem0-2.2.1", summarise, tmp_path, in_one_trace=True)
    answers = [one["value"] for one in run.variables("Answer")]
    assert answers[-2:] == ["The summary does not say when.", "The number is not known."]


def call(tool: str, **arguments: str) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": f"call_{tool}", "type": "function", "function": function}]}


def keep_or_find(body: dict[str, Any]) -> str | dict[str, Any]:
    _, said, *later = (one["content"] for one in body["messages"])
    if "?" in said:
        word = "Mia" if "Mia" in said else "Arlo"
        return call("find", word=word) if not later else f"About {word} I found: {later[-1]}"
    if later:
        return "I will remember."
    if "Mia" in said:
        return call("keep", key="mia", text="Mia swims on Wednesdays instead of Tuesdays")
    return call("keep", key="arlo", text="Arlo must not eat kiwi")


async def test_notes_that_come_back_from_a_tool_are_a_memory_that_is_not_recorded(tmp_path: Path) -> None:
    run = recorded("tool_notes.py", "mem0-2.2.1", keep_or_find, tmp_path, in_one_trace=True)
    lacks, *_ = await checked(run, tmp_path)
    assert "the program keeps a memory that is not recorded: 2 replies of models came back in later" in lacks
    assert "“Mia swims on Wednesdays instead of Tuesdays”" in lacks
    assert "tool_notes.py:30 chat" in lacks


async def test_what_a_tool_repeats_of_its_own_call_is_no_memory(tmp_path: Path) -> None:
    def echo(body: dict[str, Any]) -> str | dict[str, Any]:
        _, said, *later = (one["content"] for one in body["messages"])
        return "I will remember." if later else call("keep", key="said", text=f"The family said this: {said}")

    run = recorded("tool_notes.py", "mem0-2.2.1", echo, tmp_path, in_one_trace=True)
    assert not [one for one in await checked(run, tmp_path) if "memory that is not recorded" in one]
