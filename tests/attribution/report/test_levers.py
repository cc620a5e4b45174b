"""What to change: the code that is named, and how many results a search would have to return."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from attribution.report import words
from attribution.report.failure_report import OperationRef, PromptRef
from attribution.report.gather import operation_ref
from attribution.report.levers import levers
from attribution.report.missed_ranks import MissedRank, holder
from attribution.report.model import Reach
from schema.kinds import ErrorType, OperationKind
from tests.attribution.report.memory import losing, report
from tests.factory import TraceBuilder


@dataclass(frozen=True)
class Case:
    """A failure that a search is blamed for."""

    number: int
    settings: dict[str, Any] = field(default_factory=lambda: {"top_k": 2, "rerank": True})
    location: str | None = "app.memory:41 search"
    error_type: ErrorType | None = ErrorType.RETRIEVAL
    prompts: tuple[PromptRef, ...] = ()

    @property
    def failure_id(self) -> str:
        return str(self.number)

    @property
    def operation(self) -> OperationRef:
        kind = OperationKind.RETRIEVAL
        return OperationRef("id", "external", f"{kind}:search", "search", kind, self.settings, self.location)


def _reach(ranks: list[int | None], returned: int = 2, **more: Any) -> Reach | None:
    cases = [Case(number, **more) for number in range(len(ranks))]
    known = {str(number): MissedRank(returned, rank) for number, rank in enumerate(ranks)}
    (lever,) = levers(cases, len(cases), known)
    return lever.reach


def test_the_least_number_of_results_with_most_of_what_was_missed_is_named() -> None:
    found = _reach([3, 4, 5, 9, None])
    assert found == Reach(setting="top_k", now=2, k=5, finds=3, of=5)
    assert words.reach(found) == "top_k = 2: 5 would have returned 3 of 5"
    assert _reach([3]) == Reach(setting="top_k", now=2, k=3, finds=1, of=1)
    assert _reach([10, 11]) == Reach(setting="top_k", now=2, k=10, finds=1, of=2), "five times as many are proposed"


@pytest.mark.parametrize("ranks", [[None, None], [11, 12], [1, 2], []])
def test_ranks_that_say_nothing_propose_nothing(ranks: list[int | None]) -> None:
    """They are not known, need more than five times the results, or were returned and came to the answer otherwise."""
    if ranks:
        assert _reach(ranks) is None
    (lever,) = levers([Case(1)], 1)
    assert lever.reach is None


def test_a_setting_with_another_number_is_not_named() -> None:
    found = _reach([3], settings={"top_k": 10})
    assert found is not None
    assert (found.setting, words.reach(found)) == (None, "it returned 2: 3 would have returned 1 of 1")
    assert _reach([2], returned=1, settings={"rerank": True}) == Reach(setting=None, now=1, k=2, finds=1, of=1)


def test_the_code_that_is_named_most_comes_first() -> None:
    places = ["a:1 f", "b:2 g", "b:2 g", None, "c:3 h", "c:3 h", "c:3 h", "d:4 i"]
    (lever,) = levers([Case(number, location=place) for number, place in enumerate(places)], len(places))
    assert lever.locations == ["c:3 h", "b:2 g", "a:1 f"]
    assert words.changed_thing(lever) == "settings of search (c:3 h, b:2 g, a:1 f)"


def test_a_report_knows_the_ranks_of_its_searches(tmp_path: Path) -> None:
    """The search of ``losing`` returned 2, and put what it missed at rank 12: more than is proposed."""
    data = report(losing(), tmp_path)
    assert [lever.reach for lever in data.levers if lever.kind == "settings"] == [None, None]
    (case,) = [one for one in data.cases if one.error_type is ErrorType.RETRIEVAL]
    assert case.story is not None
    (lost,) = [card for card in case.story.cards if card.state == "lost"]
    assert lost.note == "rated 13, returned 2; the fact was number 12: k ≥ 12 would have returned it"
    assert [one.rank for one in lost.candidates] == [1, 2, 12]
    assert holder(case.path) is not None


def test_what_came_of_a_call_and_where_it_stands_are_no_settings() -> None:
    told = {"model": "m", "limit": 3, "dropped": 2, "inputTokens": 9, "responseId": "r", "parentId": "p", "tags": ["a"]}
    made = TraceBuilder("shop").operation("trim", kind=OperationKind.DELETION, attributes=json.dumps(told))
    assert operation_ref(made).settings == {"limit": 3, "model": "m"}
