"""An agent's middleware sums up the history: the summary is a part of the history, and what it lost is its fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases.verdicts import checked, recorded, tried
from tests.sdk.instruments.running import Run, check_whole

SUMMARY = "The user keeps 19 goats, and told how to get in."


def script(body: dict[str, Any]) -> str:
    said = [str(one["content"]) for one in body["messages"]]
    if "How is the weather" in said[-1] and len(said) > 1:
        return "It drizzles."
    if len(said) == 1:
        return SUMMARY
    if said[-1].startswith("Which code"):
        return "The code is 7731." if "7731" in " ".join(said) else "You did not say."
    return "You have 19." if said[-1].startswith("How many") else "Got it."


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("summarising_agent.py", "langchain", script, tmp_path_factory.mktemp("summarising"))


async def test_the_summary_is_a_part_of_the_history(run: Run, tmp_path: Path) -> None:
    check_whole(run)
    rewriting = {event["name"] for event in run.of("operationStarted") if event["kind"] in {"Update", "Deletion"}} - {
        "append messages"
    }
    assert rewriting == {"SummarizationMiddleware.before_model"}
    found = await tried(run, tmp_path, "You did not say.", "7731")
    assert found.said == ("UpdateError", "Update", "SummarizationMiddleware.before_model")


async def test_a_conversation_that_is_summed_up_is_no_memory_that_is_not_recorded(run: Run, tmp_path: Path) -> None:
    assert not [one for one in await checked(run, tmp_path) if "memory that is not recorded" in one]
