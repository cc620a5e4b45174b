"""Large packages that a replayed program needs are loaded once for all of its replays, and nothing else is."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import memtrace
import pytest
from memtrace.exporters.memory import MemoryExporter
from memtrace.replay import Ask, Replayed, Replayer, folder_of, preloading

ASK = Ask("answer", "Answer", "What is loaded?")
SHARED, OWN = "httpx", "wave"
"""A package that is loaded for all replays, and one that is not; nothing else of a replay needs either."""


@memtrace.operation(kind="Generation", output="Answer", output_name="answer")
def answer(question: str) -> str:
    before = [name for name in (SHARED, OWN) if name in sys.modules]
    for name in (SHARED, OWN):
        importlib.import_module(name)
    return f"loaded before: {', '.join(before)}"


def program() -> None:
    """Tell which packages are loaded when a run begins, and load them."""
    with memtrace.trace("loading", id="loading", program=f"{__name__}:program", input={}):
        answer(memtrace.variable(ASK.question, kind="Query", name="question"))


def ending() -> None:
    """The same, but the process is gone before it can tell anything."""
    with memtrace.trace("ending", id="ending", program=f"{__name__}:ending", input={}):
        if "memtrace.replay.child" in sys.modules:
            importlib.import_module("os")._exit(3)


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRACE_REPLAY", str(tmp_path / "kept"))


def _said(found: Replayed) -> str:
    assert (found.error, found.problems) == (None, ())
    (text,) = found.answers
    return text


@pytest.mark.skipif(not preloading.IS_SAFE, reason="packages are loaded by each run here")
def test_a_run_finds_the_packages_that_the_first_one_needed(recorded: MemoryExporter) -> None:
    program()
    with Replayer(folder_of("loading")) as replayer:
        first, second, third = (replayer.run(ask=ASK) for _ in range(3))
    assert _said(first) == "loaded before: "
    assert _said(second) == _said(third) == f"loaded before: {SHARED}"
    assert [one.call for one in first.calls] == [one.call for one in second.calls]


def test_what_is_no_package_of_the_list_is_not_loaded() -> None:
    sys.modules.pop(OWN, None)
    preloading.load([OWN, "no_such.module", "pydantic.no_such_module"])
    assert OWN not in sys.modules
    assert {name.partition(".")[0] for name in preloading.loaded()} <= preloading.PACKAGES


def test_a_run_whose_process_ends_stops_no_other(recorded: MemoryExporter) -> None:
    ending()
    with Replayer(folder_of("ending")) as replayer:
        for _ in range(2):
            with pytest.raises(RuntimeError, match="ended with 3 and no result"):
                replayer.run()
