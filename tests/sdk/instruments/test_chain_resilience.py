"""Whatever happens to the recorder or the program, LangChain and LangGraph give the program the same results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.running import run
from tests.sdk.instruments.unchanged import FAMILIES


def script(body: dict[str, Any]) -> str | int:
    last = str(body["messages"][-1]["content"])
    return 500 if last == "fail" else f"said: {last.removeprefix('say: ')}"


@pytest.fixture(scope="module", params=FAMILIES)
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("storm")
    with scripted_openai.running(script) as model:
        more = {"OPENAI_API_BASE": model.url, "LANGSMITH_TRACING": "false"}
        done = run("langchain_storm.py", request.param, model=model.url, folder=folder, instrument=None, more=more)
    found: dict[str, Any] = done.said
    return found


def test_instrument_three_times_records_once(said: dict[str, Any]) -> None:
    assert said["before"] == "said: nothing is recorded"
    assert said["none"] == 0
    assert said["once"] == "said: once"
    assert said["operations"] == {"whole": True, "count": 5}


def test_exceptions_are_the_program_s_own_and_are_recorded(said: dict[str, Any]) -> None:
    assert said["failures"]["errors"] == said["plain"]
    assert None not in said["plain"]
    assert said["failures"]["recorded"] == 4


def test_hundreds_of_tasks_that_share_a_batch_are_not_mixed(said: dict[str, Any]) -> None:
    assert said["tasks"] == {"right": True, "mixed": 0, "failed": said["plain"][1]}


def test_switched_off_and_on_under_load_and_in_flight(said: dict[str, Any]) -> None:
    assert said["load"] is True
    assert said["in_flight"] == "said: a longer reply that comes in pieces"
    assert said["after"] == "said: nothing again"
    assert said["still"] is True
    assert said["whole"] is True


def test_uninstrument_leaves_the_packages_as_they_were(said: dict[str, Any]) -> None:
    assert said["originals"] is True
    assert said["faults"] == {}


def test_the_platform_is_away(tmp_path: Path) -> None:
    with scripted_openai.running(script) as model:
        more = {"OPENAI_API_BASE": model.url, "MEMTRACE_ENDPOINT": "http://127.0.0.1:9", "LANGSMITH_TRACING": "false"}
        away = run("langchain_rag.py", "langchain", model=model.url, folder=tmp_path, more=more)
    assert len(away.said) == 6
    assert any((tmp_path / "spool").rglob("*"))
