"""A program whose memory is a dictionary of its own: what it says beside its notes, and which reply lost a fact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import recorded, tried
from tests.sdk.instruments.running import Run

QUINCE = "The quince trees stand in row 14, upper field"
HEDGES = "Ilse Morander orders 60 box hedges"
STEPS = {
    "quince": ("quince", QUINCE),
    "orders 60": ("ilse", HEDGES),
    "medlar": ("price", "The medlar costs 38 euros a piece"),
    "rowan": ("price", "The rowan costs 29 euros"),
    "Pump": ("pump", "One of the pumps has been repaired"),
    "October": ("ilse", "Ilse Morander wants her hedges in October"),
    "apprentice": ("quince", None),
}


def script(body: dict[str, Any]) -> str:
    task, text = (one["content"] for one in body["messages"])
    new = text.rpartition("\n")[2]
    if task == "Change the notes.":
        key, note = next(step for word, step in STEPS.items() if word in new)
        return json.dumps([{"do": "drop", "key": key} if note is None else {"do": "put", "key": key, "note": note}])
    return {"What": "I know no price.", "Who ": "I do not know who.", "How ": "I know no number."}.get(
        new.removeprefix("QUESTION: ")[:4], "That is not in the notes."
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("own_memory.py", "mem0-2.2.1", script, tmp_path_factory.mktemp("own"), in_one_trace=True)


def test_what_is_new_beside_the_notes_is_a_message(run: Run) -> None:
    said = [one["value"] for one in run.variables("Message")]
    assert "NEW: The medlar costs 38 euros a piece." in said
    assert "QUESTION: Who repaired the pump?" in said
    assert not [one for one in said if f"ilse: {HEDGES}" in one]  # a prompt with notes is no message


@pytest.mark.parametrize(
    ("answer", "gold", "error", "made"),
    [
        ("I know no price.", "38 euros", "UpdateError", "The rowan costs 29 euros"),
        ("I do not know who.", "Anders Kofoed", "ExtractionError", "One of the pumps"),
        ("I know no number.", "60", "UpdateError", "in October"),
    ],
)
async def test_the_reply_that_lost_the_fact_is_blamed(
    run: Run, answer: str, gold: str, error: str, made: str, tmp_path: Path
) -> None:
    found = await tried(run, tmp_path, answer, gold)
    assert found.said == (error, "Generation", "openai chat")
    assert found.blamed is not None
    (lossy,) = [one["value"] for one in run.variables() if one.get("operation") == found.blamed.external_id]
    assert made in lossy
    assert found.question.startswith("QUESTION: ")
