"""Graphs that read what a user said part by part, and nodes that run again from their start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schema.kinds import VariableKind
from tests.cases.verdicts import recorded, tried
from tests.environments import params_of
from tests.sdk.instruments.running import Run, check_whole

_party: list[str] = []


def script(body: dict[str, Any]) -> str:
    """A model that gets a number wrong in a part, drops a line at the merge, and notes 13 guests at the third time."""
    first, last = str(body["messages"][0]["content"]), str(body["messages"][-1]["content"])
    if first == "Shorten.":
        if "Moen" in last:
            _party.append(last)
            return f"Moen party, the 9th, {30 if len(_party) % 3 else 13} guests."
        return last.replace("1480", "1840")
    if first == "Merge.":
        return last.split("\n")[1]
    if "guests" in last:
        return "They bring 13 guests."
    return "It costs 1840 crowns." if "roof" in last else "The file does not name the owner."


@pytest.fixture(scope="module", params=params_of("langchain"))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("split_reports.py", request.param, script, tmp_path_factory.mktemp("split"))


def test_what_a_user_said_is_one_message_also_if_a_graph_reads_its_parts(run: Run) -> None:
    check_whole(run)
    said = [event["value"] for event in run.of("variable") if event["kind"] == VariableKind.MESSAGE]
    assert sum("1480" in one for one in said) == 1
    assert not [event for event in run.of("operationFinished") if event.get("status") == "running"]


async def test_the_model_that_shortened_a_part_is_at_fault(run: Run, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, "It costs 1840 crowns.", "1480 crowns")
    assert found.said == ("ExtractionError", "Generation", "ChatOpenAI")
    assert found.verdict.path[-2].quote == "The roof of the barn costs 1480 crowns."
    assert found.verdict.confidence >= 0.8


async def test_the_model_that_merged_the_parts_is_at_fault(run: Run, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, "The file does not name the owner.", "Aud Solli")
    assert found.said == ("UpdateError", "Generation", "ChatOpenAI")
    assert "Aud Solli" in found.verdict.path[-2].quote


async def test_the_last_run_of_a_node_that_asked_is_at_fault(run: Run, tmp_path: Path) -> None:
    found = await tried(run, tmp_path, "They bring 13 guests.", "30")
    assert found.said == ("ExtractionError", "Generation", "ChatOpenAI")
    assert found.blamed is not None
    calls = [event["operation"] for event in run.of("operationStarted") if event["name"] == "ChatOpenAI"]
    assert calls.index(found.blamed.external_id) == len(calls) - 2  # the last call is the answer's
