"""Tasks and entrypoints of LangGraph's functional API."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.cases.verdicts import recorded
from tests.environments import params_of
from tests.sdk.instruments.running import Run, check_whole


def script(body: dict[str, Any]) -> str:
    said = str(body["messages"][-1]["content"])
    return "It came on 14 May." if said.endswith("?") else said.removeprefix("Note: ")


@pytest.fixture(scope="module", params=params_of("langchain"))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded("tasks.py", request.param, script, tmp_path_factory.mktemp("tasks"))


def test_each_run_of_a_task_is_one_operation_also_if_it_makes_a_new_text(run: Run) -> None:
    check_whole(run)
    steps = [event for event in run.of("operationStarted") if event["name"] in {"keeper", "note", "look"}]
    assert Counter(event["name"] for event in steps) == {"keeper": 3, "note": 3, "look": 1}
    assert {event.get("category") for event in steps} == {"node"}
    assert "LangGraph" not in {event["name"] for event in run.of("operationStarted")}  # a graph only passes on
    made = {event["value"]: event.get("operation") for event in run.of("variable")}
    ids = {event["name"]: event["operation"] for event in steps}
    assert made["The log says: Oil came on 4 May.; The lens is clean."] == ids["look"]
