"""Histories that are cut or summarised: a version of the one before, and the step that made it is to blame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import recorded, tried
from tests.environments import params_of
from tests.sdk.instruments.running import Run, check_whole

CASES = {
    "harbour": ("DeletionError", "Deletion", "forget"),
    "pigeon": ("DeletionError", "Deletion", "recent"),
    "attic": ("DeletionError", "Deletion", "trim history in last_only"),
    "cellar": ("DeletionError", "Deletion", "trim history in window"),
    "bakery": ("DeletionError", "Deletion", "sum_up"),
    "library": ("UpdateError", "Generation", "ChatOpenAI"),  # its first summary left the code out
    "orchard": ("UpdateError", "Update", "condense"),
}
"""The error type of the verdict, and the kind and name of the operation that must be blamed."""


def script(body: dict[str, Any]) -> str:
    said = [str(one["content"]) for one in body["messages"]]
    if said[-1].startswith("What is the code of the"):
        place = said[-1].removesuffix("?").rpartition(" ")[2]
        return f"The code is 7731, at the {place}." if "7731" in " ".join(said) else f"I do not know it, {place}."
    if "Sum up" in said[-1] or "summary" in said[-1]:
        return "They talked about ropes."
    return f"Noted: {len(said)} of {said[-1][:20]}"


@pytest.fixture(scope="module", params=params_of("langchain", "langchain-0.3"))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("histories.py", request.param, script, tmp_path_factory.mktemp("histories"))


def test_each_recording_is_whole(run: Run) -> None:
    check_whole(run)
    assert run.said == {place: f"I do not know it, {place}." for place in CASES}


@pytest.mark.parametrize("place", CASES)
async def test_the_step_that_lost_it_is_blamed(run: Run, place: str, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, f"I do not know it, {place}.", "7731")
    assert found.said == CASES[place]
    assert found.blamed is not None
    assert "histories" in (found.blamed.location or "") or "__main__" in (found.blamed.location or "")
