"""LlamaIndex's memories: what cut the history, summed it up, or condensed a block's facts is to blame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import recorded, tried
from tests.environments import params_of
from tests.sdk.instruments.running import Run, check_whole

CASES = {
    "harbour": ("DeletionError", "Deletion", "ChatMemoryBuffer.get"),
    "pigeon": ("UpdateError", "Update", "ChatSummaryMemoryBuffer.flush"),
    "attic": ("UpdateError", "Update", "FactExtractionMemoryBlock condense"),
}
"""The error type of the verdict, and the kind and name of the operation that must be blamed."""


def script(body: dict[str, Any]) -> str:
    said = [str(one["content"]) for one in body["messages"]]
    if "condensing system" in said[-1]:
        return "<facts><fact>They talk about ropes</fact></facts>"
    if "fact extraction system" in said[-1]:
        return "<facts><fact>The code of the attic is 7731</fact><fact>They talk about ropes</fact></facts>"
    if "Transcript so far" in said[-1]:
        return "They talked about ropes."
    if said[-1].startswith("What is the code of the"):
        place = said[-1].removesuffix("?").rpartition(" ")[2]
        return f"The code is 7731, at the {place}." if "7731" in " ".join(said) else f"I do not know it, {place}."
    return f"Noted, all of it: {said[-1][:20]}"


@pytest.fixture(scope="module", params=params_of("langchain", "langchain-0.3"))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("llamaindex_memories.py", request.param, script, tmp_path_factory.mktemp("llama"))


def test_each_memory_has_a_trace_named_after_the_program(run: Run) -> None:
    check_whole(run)
    assert run.said == {place: f"I do not know it, {place}." for place in CASES}
    names = [f"llamaindex_memories.py: session={place}" for place in CASES]
    assert [event["name"] for event in run.of("trace")] == names


def test_replies_to_what_users_said_are_answers(run: Run) -> None:
    answers = [one["value"] for one in run.variables("Answer")]
    assert {f"I do not know it, {place}." for place in CASES} <= set(answers)
    assert len(answers) == 4 * len(CASES)


@pytest.mark.parametrize("place", CASES)
async def test_the_step_that_lost_it_is_blamed(run: Run, place: str, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, f"I do not know it, {place}.", "7731")
    assert found.said == CASES[place]
