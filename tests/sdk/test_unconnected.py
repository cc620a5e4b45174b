"""Counting of retrievals that are not connected to memory, which is told once at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import memtrace
import pytest
from memtrace import faults, unconnected
from memtrace.exporters.memory import MemoryExporter
from memtrace.raw_events import TRACE, VALUE, VARIABLE


def _event(text: str, kind: str = VARIABLE) -> Any:
    raw: list[Any] = [kind, None, "t", 1, "", None, "id", "name", "Context", 0, None, None, None]
    raw[VALUE] = text
    return tuple(raw)


@pytest.mark.parametrize(
    "text", ["", " \n", "[]", "{}", "()", '""', "null", "NULL", "None", "[none]", "[None, ]", "'null'."]
)
def test_an_empty_result_is_silent(text: str) -> None:
    assert unconnected.silent([_event(text)]) == {"id"}


@pytest.mark.parametrize("text", ["0", "no", "nothing", "[0]", "[null, 1]", "-", "none of them"])
def test_another_result_is_not(text: str) -> None:
    assert unconnected.silent([_event(text)]) == set()


def test_only_variables_have_results() -> None:
    assert unconnected.silent([_event("", TRACE)]) == set()


@pytest.fixture(autouse=True)
def _afresh(recorded: MemoryExporter, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(faults, "_said", set())
    unconnected.forget()
    yield
    unconnected.forget()


def _search(*found: str, asked: str | None = None) -> None:
    @memtrace.operation("search", kind="Retrieval")
    def run(*given: object) -> list[str]:
        return list(found)

    run(*([] if asked is None else [memtrace.variable(asked, "Query")]))


def _stored(message: str) -> str:
    @memtrace.operation("store", kind="Extraction")
    def run(told: str) -> str:
        return memtrace.variable(f"unit of {told}", "MemoryUnit")

    return run(memtrace.variable(message, "Message"))


def _told(caplog: pytest.LogCaptureFixture) -> list[str]:
    unconnected.tell()
    return [one.partition(" retrievals are not")[0] for one in caplog.messages if "are not connected to memory" in one]


def test_retrievals_of_unknown_units_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    with memtrace.trace():
        _search("one", asked="where?")
        _search("two", asked="when?")
        _search(asked="why?")  # an empty result does not count
    assert _told(caplog) == ["2 of 2"]
    assert _told(caplog) == ["2 of 2"]


def test_a_retrieval_of_a_recorded_unit_is_connected(caplog: pytest.LogCaptureFixture) -> None:
    with memtrace.trace():
        unit = _stored("I like tea.")
        _search(unit, asked="what?")
    assert _told(caplog) == []
    with memtrace.trace():
        _search("one", asked="where?")
    assert _told(caplog) == ["1 of 2"]


def test_what_is_forgotten_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with memtrace.trace():
        _search("one", asked="where?")
    unconnected.forget()
    assert _told(caplog) == []
    assert unconnected._count == 0


def test_so_many_retrievals_are_remembered(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unconnected, "MAX_LOOSE", 2)
    with memtrace.trace():
        for number in range(3):
            _search(f"found {number}", asked=f"where is {number}?")
    assert _told(caplog) == ["2 of 3"]
