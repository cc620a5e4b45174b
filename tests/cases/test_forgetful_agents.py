"""Facts that a program loses out of sight, or that a model never wrote: no innocent operation is blamed for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import memtrace
import pytest

from schema.kinds import ErrorType
from store.contract.protocol import Database
from tests.cases.recorded import judged
from tests.cases.verdicts import recorded, tried
from tests.sdk.instruments.running import Run, check_whole

NO_KEY = "The notes have no key."
NO_FENCE = "I found nothing about a fence; your goat eats thistles."
TEA = "Gyokuro grows in the shade."
NO_TIME = "My note has only a name."


def call(tool: str, **arguments: str) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": f"call_{tool}", "type": "function", "function": function}]}


def script(body: dict[str, Any]) -> str | dict[str, Any]:
    said = body["messages"]
    turn = max(place for place, one in enumerate(said) if one["role"] == "user")
    text, is_first = str(said[turn]["content"]), turn == len(said) - 1
    if text.startswith("Note this"):
        return "Noted so: " + text.partition(": ")[2]
    replies: dict[str, str | dict[str, Any]] = {
        "Now answer": NO_KEY,
        "My goat": call("write_note", key="goat", text="The goat Pia eats thistles.") if is_first else "Noted.",
        "Please remember": "Of course, I have saved it.",
        "What does my goat": call("find_notes", query="the food of the goat") if is_first else "Thistles.",
        "Where was the fence": call("find_notes", query="where the fence was painted") if is_first else NO_FENCE,
        "Which tea": TEA,
        "Sum this up": "They talked about a tea of Japan.",
        "The ferry": call("write_note", key="ferry", text="The ferry is called Alva.") if is_first else "Noted.",
        "When does the ferry": call("read_note", key="ferry") if is_first else NO_TIME,
    }
    return next(reply for beginning, reply in replies.items() if beginning in text)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("forgetful_agents.py", "langchain", script, tmp_path_factory.mktemp("forgetful"))


def test_all_is_recorded_once(run: Run) -> None:
    check_whole(run)
    assert run.said == [NO_KEY, NO_FENCE, TEA, NO_TIME]


async def test_a_reply_that_only_the_program_kept_is_a_hole(run: Run, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, NO_KEY, "behind the clock")
    assert found.question == "Where does the attic key hang?"  # of the state: the model read it inside a prompt
    assert found.blamed is None
    assert "no recorded step shows what became of the reply" in found.verdict.reason
    assert "memtrace.deleted(text)" in found.verdict.reason


async def test_a_model_that_wrote_nothing_at_a_turn_lost_what_it_was_told(run: Run, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, NO_FENCE, "in Vejle")
    assert found.question == "Where was the fence painted?"  # not the arguments of the tool, also of earlier turns
    assert found.said == ("ExtractionError", "Generation", "ChatOpenAI")
    assert found.blamed is not None
    made = [one["value"] for one in run.variables() if one.get("operation") == found.blamed.external_id]
    assert made == ["Of course, I have saved it."]
    assert found.verdict.confidence < 0.9


def test_the_last_message_is_the_answer_and_not_the_summary_beside_it(run: Run) -> None:
    answers = [one["value"] for one in run.variables() if one["kind"] == "Answer"]
    assert TEA in answers
    assert "They talked about a tea of Japan." not in answers


async def test_a_note_of_another_guest_s_conversation_is_a_hole(run: Run, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, NO_TIME, "at dawn and at noon")
    assert found.blamed is None
    assert "looked into a store to which nothing in this trace was written" in found.verdict.reason
    assert "name the user in both" in found.verdict.reason


SAID = (
    "The lamp stands in the hall.",
    "The tent lies in the cellar.",
    "My bread is baked by Oona.",
    "I row on Mondays.",
)


@pytest.mark.parametrize("is_dropped", [True, False])
async def test_a_unit_that_a_search_did_not_weigh_was_perhaps_not_there(
    sqlite_database: Database, tmp_path: Path, is_dropped: bool
) -> None:
    @memtrace.operation(kind="Extraction", inputs={"message": "Message"}, output="MemoryUnit")
    def keep(message: str) -> str:
        return f"Noted: {message}"

    @memtrace.operation(kind="Retrieval")
    def search(question: str) -> list[str]:
        memtrace.retrieved(question, notes, notes[-1:])
        return notes[-1:]

    @memtrace.operation(kind="Generation", output="Answer")
    def reply(question: str, found: list[str]) -> str:
        return "I do not know."

    notes: list[str] = []

    def program() -> None:
        with memtrace.trace("agent", id=f"dropped-{is_dropped}"):
            notes.extend(keep(one) for one in SAID)
            if is_dropped:
                del notes[1]  # nobody records it
            question = memtrace.variable("Where does my tent lie?", kind="Query")
            memtrace.feedback(reply(question, search(question)), gold="in the cellar")

    case = await judged(program, sqlite_database.project(f"dropped-{is_dropped}"), tmp_path)
    (verdict,) = case.verdicts
    assert (verdict.error_type, case.blamed(verdict)) == (ErrorType.RETRIEVAL, "search")
    assert (verdict.confidence < 0.9) is is_dropped
    assert ("weighed 3 of 4 units and not this one" in verdict.reason) is is_dropped
