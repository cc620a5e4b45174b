"""Faults in a program that uses mem0, recorded live: ``memtrace attribute`` names the operation that made each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.environments import params_of
from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.faults import blamed_operations, complain, complaining
from tests.sdk.instruments.mem0_model import model
from tests.sdk.instruments.running import Run, check_whole, run

FACTS = {
    "My cat is called Luna": "The cat of the user is called Luna",
    "I keep my home tidy": "The user does keep a tidy home",
    "I drink green tea": "Likes to drink green tea",
}
EXPECTED = {
    "dropped": ("ExtractionError", "mem0 extract"),
    "overwritten": ("UpdateError", "mem0 update"),
    "deleted": ("DeletionError", "mem0 delete"),
    "missed": ("RetrievalError", "mem0 search"),
    "ignored": ("ResponseError", "openai chat"),
}


def answer(prompt: str) -> str:
    """What the memories say of the cat; for one user, nothing."""
    lines = [line[2:] for line in prompt.splitlines() if line.startswith("- ")]
    if "Please" in prompt:
        return "I can't say how it is called."
    return next((line for line in lines if "cat" in line), "That was never said.")


def complaints(recorded: Run) -> list[dict[str, Any]]:
    """What users said later: each answer was wrong."""
    names = {event["operation"]: event["name"] for event in recorded.of("operationStarted")}
    with complaining() as events:
        for event in recorded.of("variable"):
            if names.get(event.get("operation", "")) == "openai chat":
                question = next(other for other in recorded.closure(event) if other["kind"] == "Query")
                complain(recorded, event, question)
    return events


@pytest.mark.parametrize(
    "environment",
    params_of("mem0-2.2.1", "mem0-1.0.11", "mem0-1.0.0"),
)
def test_each_fault_is_found_in_what_was_recorded_live(environment: str, tmp_path: Path) -> None:
    with scripted_openai.running(model(facts=FACTS, answer=answer)) as server:
        recorded = run(
            "mem0_story.py", environment, model=server.url, folder=tmp_path / "application", arguments=("faults",)
        )
    check_whole(recorded)
    assert set(recorded.said) == set(EXPECTED)
    said = complaints(recorded)
    assert len(said) == len(EXPECTED)
    found = blamed_operations(recorded, said, tmp_path, lambda name: name.partition("=")[2])
    assert {user: (error, operation["name"]) for user, (error, operation) in found.items()} == EXPECTED
    # The one that was told of the cat, and not the next, which was shown that again as what had been said before.
    dropped = found["dropped"][1]
    first = next(event for event in recorded.of("operationStarted") if _is_extraction_of(event, dropped["trace"]))
    assert dropped["operation"] == first["operation"]


def _is_extraction_of(event: dict[str, Any], trace: str) -> bool:
    return bool(event["trace"] == trace and event["name"] == "mem0 extract")
