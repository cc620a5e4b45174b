"""Curves from shares to frequencies."""

from __future__ import annotations

import pytest

from benchmarks.confidence import Point, fit, least, validated
from schema.kinds import QuestionKind


def points(
    kind: str, share: float, right: int, of: int, conversation: str = "a", *, natural: bool = True
) -> list[Point]:
    return [Point(share, QuestionKind(kind), conversation, natural, number < right) for number in range(of)]


def test_a_curve_says_how_often_verdicts_were_right() -> None:
    curves = fit([*points("plain", 0.99, 190, 200), *points("plain", 0.3, 80, 200)])
    assert curves[QuestionKind.PLAIN].at(0.99) == pytest.approx(0.95, abs=0.02)
    assert curves[QuestionKind.PLAIN].at(0.3) == pytest.approx(0.4, abs=0.02)


def test_a_kind_with_few_cases_has_the_curve_of_those_like_it() -> None:
    curves = fit([*points("plain", 0.9, 40, 60), *points("several", 0.9, 0, 3), *points("conversational", 0.9, 1, 4)])
    assert curves[QuestionKind.SEVERAL] == curves[QuestionKind.INFERRED]
    assert curves[QuestionKind.SEVERAL].cases == 63
    assert curves[QuestionKind.CONVERSATIONAL].cases == 4


def test_where_all_are_right_the_rule_of_succession_holds() -> None:
    curves = fit([*points("unanswerable", 0.97, 8, 8), *points("plain", 0.9, 40, 60)])
    assert curves[QuestionKind.UNANSWERABLE].at(0.5) == pytest.approx(0.9)
    assert curves[QuestionKind.CONVERSATIONAL].at(0.5) == 0.5


def test_few_that_happened_weigh_as_much_as_many_that_were_injected() -> None:
    happened, injected = points("plain", 0.9, 50, 100), points("plain", 0.9, 1000, 1000, natural=False)
    assert fit([*happened, *injected])[QuestionKind.PLAIN].at(0.9) == pytest.approx(0.75, abs=0.02)


def test_no_conversation_is_asked_about_by_a_curve_that_saw_it() -> None:
    good, bad = points("plain", 0.9, 49, 50, "good"), points("plain", 0.9, 1, 50, "bad")
    sure = {one.conversation: confidence for one, confidence in validated([*good, *bad])}
    assert sure["good"] < 0.1
    assert sure["bad"] > 0.9


def test_the_threshold_keeps_nine_tenths_right() -> None:
    some = [*points("plain", 0.99, 95, 100), *points("plain", 0.2, 5, 20)]
    curves = fit(some)
    assert curves[QuestionKind.PLAIN].at(0.2) < least(some, curves) <= curves[QuestionKind.PLAIN].at(0.99)
    all_right = points("plain", 0.9, 20, 20)
    assert least(all_right, fit(all_right)) <= fit(all_right)[QuestionKind.PLAIN].at(0.9)
