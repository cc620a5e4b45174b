"""Faults in programs that use langmem and LangGraph's stores, recorded live: ``memtrace attribute`` finds them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.sdk.instruments.faults import blamed, complain, complaining
from tests.sdk.instruments.running import Run, check_whole
from tests.sdk.instruments.test_langmem import call
from tests.sdk.instruments.unchanged import FAMILIES, both

EXPECTED = {
    "dropped": ("ExtractionError", "ChatOpenAI"),
    "overwritten": ("UpdateError", "InMemoryStore.put"),
    "deleted": ("DeletionError", "InMemoryStore.delete"),
    "missed": ("RetrievalError", "InMemoryStore.search"),
    "ignored": ("ResponseError", "ChatOpenAI"),
}


def script(body: dict[str, Any]) -> str | dict[str, Any]:
    text = "\n".join(str(message.get("content")) for message in body["messages"])
    if not body.get("tools"):
        if "careless" in text:
            return "I can't say how it is called."
        return next((line[2:] for line in text.splitlines() if line.startswith("- ")), "That was never said.")
    said = text.split("<session_")[1]
    known = re.findall(r"<instance id=\s*([0-9a-f-]+)", text)
    if "forget" in said:
        return call("RemoveDoc", {"json_doc_id": known[0]})
    if "Instead" in said:
        patch = {"op": "replace", "path": "/content", "value": "Likes to drink green tea"}
        return call("PatchDoc", {"json_doc_id": known[0], "planned_edits": "tea", "patches": [patch]})
    if "tea" in said:
        return call("Memory", {"content": "Likes to drink green tea"})
    return call("Memory", {"content": "Has a cat" if "By the way" in said else "The cat of the user is called Luna"})


def complaints(recorded: Run) -> list[dict[str, Any]]:
    """What users said later: each answer was wrong."""
    kinds = {event["operation"]: event["kind"] for event in recorded.of("operationStarted")}
    with complaining() as events:
        for event in [*recorded.variables("Response"), *recorded.variables("Answer")]:
            if kinds[event["operation"]] == "Generation":
                (question,) = [one for one in recorded.variables("Query") if one["trace"] == event["trace"]]
                complain(recorded, event, question)
    return events


@pytest.mark.parametrize("environment", FAMILIES)
def test_each_fault_is_found_in_what_was_recorded_live(environment: str, tmp_path: Path) -> None:
    without, recorded = both("langmem_faults.py", environment, script, tmp_path / "application")
    assert recorded.said == without.said
    assert set(recorded.said) == set(EXPECTED)
    check_whole(recorded)
    said = complaints(recorded)
    assert len(said) == len(EXPECTED)
    assert blamed(recorded, said, tmp_path, lambda name: name.rpartition("/")[2]) == EXPECTED
