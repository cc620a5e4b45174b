"""A program that does not send the turns of the user again: the request that answered is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cases.verdicts import recorded, tried

UNKNOWN = "You have not told me that."


def forgets(body: dict[str, Any]) -> str:
    return UNKNOWN if "?" in body["messages"][-1]["content"] else "Thanks, noted!"


def writes_a_note(body: dict[str, Any]) -> str:
    text = body["messages"][-1]["content"]
    return UNKNOWN if "?" in text else f"Note: {text}"


async def test_a_turn_that_was_not_sent_again_fell_out_of_the_request(tmp_path: Path) -> None:
    run = recorded("newest_only.py", "mem0-2.2.1", forgets, tmp_path, in_one_trace=True)
    found = await tried(run, tmp_path, UNKNOWN, "platform 14")
    assert found.said == ("DeletionError", "Generation", "openai chat")
    assert found.verdict.reason.startswith("not in the request: an earlier call was given the message")
    assert 0.8 <= (found.verdict.confidence or 0) < 0.9
    assert [step.holds for step in found.verdict.path] == [True]


async def test_a_reply_that_may_be_a_kept_note_leaves_it_open(tmp_path: Path) -> None:
    run = recorded("newest_only.py", "mem0-2.2.1", writes_a_note, tmp_path, in_one_trace=True)
    found = await tried(run, tmp_path, UNKNOWN, "platform 14")
    assert found.blamed is None
    assert "no recorded step shows what became of the reply" in found.verdict.reason
