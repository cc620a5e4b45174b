"""Parts of replies that a program keeps by itself and writes into later prompts: which reply lost the fact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import recorded, tried
from tests.sdk.graph import sources
from tests.sdk.instruments.running import Run

ALTOS = "The altos rehearse in the chapel"
KEY = "Somebody has the key to the organ loft."
CONCERT = "The spring concert has a soloist from Tromsø"
WHEN = "When do the altos rehearse?"
PRINTER = "The printer delivers programmes for the concert."


def call(tool: str, **arguments: str) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": f"call_{tool}", "type": "function", "function": function}]}


def script(body: dict[str, Any]) -> str | dict[str, Any]:
    instruction, said = (one["content"] for one in body["messages"][:2])
    if instruction == "Decide.":
        new = json.loads(said)["new"]
        key = new.split()[1] if new.startswith("The") else "coffee"
        return json.dumps({"key": "hall" if "no coffee" in new else key, "note": None if "no coffee" in new else new})
    if "hall" in said or "offee" in said:
        return "The time is not known." if said.startswith("Until") else said
    if instruction == "List what to remember.":
        return f"- {ALTOS}\n- {KEY}"
    if instruction == "Give facts as JSON.":
        return json.dumps({"facts": [CONCERT, "The spring concert begins at 19:30"]})
    if instruction == "Write it into the book.":
        return call("write", note=PRINTER)
    if "programmes" in said:
        return "No number is known." if len(body["messages"]) > 2 else call("read", page="programmes")
    return "They rehearse on some day." if "altos" in said else "I know no name."


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("kept_parts.py", "mem0-2.2.1", script, tmp_path_factory.mktemp("kept"))


def of_prompt(run: Run, beginning: str) -> list[str]:
    """The values from which the message with this beginning derives."""
    (found,) = [one for one in run.variables() if one["value"].startswith(beginning)]
    return [value for _, value in sources(run.events, found)]


@pytest.mark.parametrize(
    ("beginning", "part"),
    [
        (f"You know:\n* {ALTOS}", KEY),
        (f"You know: {CONCERT}", "The spring concert has a soloist"),
        (f"Answer. Notes:\n{ALTOS}", KEY),
        (PRINTER, PRINTER),
    ],
)
def test_a_prompt_with_parts_of_a_reply_derives_from_the_reply(run: Run, beginning: str, part: str) -> None:
    reply, *said = of_prompt(run, beginning)
    assert part in reply
    assert said in ([], [f"Question: {WHEN}"])


def test_what_a_prompt_says_beside_kept_parts_is_a_message(run: Run) -> None:
    said = [one["value"] for one in run.variables("Message")]
    assert f"Question: {WHEN}" in said
    assert not [one for one in said if "Answer. Notes:" in one]


def test_a_user_who_repeats_a_sentence_of_a_reply_says_a_message(run: Run) -> None:
    (said,) = [one for one in run.variables() if one["value"].startswith("Please remember")]
    assert said["kind"] == "Message"
    assert not sources(run.events, said)


def test_the_reply_to_a_prompt_with_kept_notes_is_an_answer(run: Run) -> None:
    answers = [one["value"] for one in run.variables("Answer")]
    assert "They rehearse on some day." in answers


@pytest.mark.parametrize(
    ("answer", "gold", "made"),
    [
        ("I know no name.", "Emil Brandvold", "The spring concert has a soloist"),
        ("They rehearse on some day.", "On Tuesdays", ALTOS),
        ("No number is known.", "340", PRINTER),
    ],
)
async def test_the_reply_that_lost_the_fact_is_blamed(
    run: Run, answer: str, gold: str, made: str, tmp_path: Path
) -> None:
    found = await tried(run, tmp_path, answer, gold)
    assert found.said == ("ExtractionError", "Generation", "openai chat")
    assert found.blamed is not None
    (lossy,) = [one["value"] for one in run.variables() if one.get("operation") == found.blamed.external_id]
    assert made in lossy


async def test_a_note_that_later_prompts_still_had_is_not_lost_by_a_note_beside_it(run: Run, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, "The time is not known.", "22:00")
    assert found.blamed is None
    last = [one["operation"] for one in run.of("operationStarted")][-3]  # the decision to drop the note
    (decided,) = [one["value"] for one in run.variables() if one.get("operation") == last]
    assert json.loads(decided) == {"key": "hall", "note": None}
    assert "and showed it last to" in found.verdict.reason
