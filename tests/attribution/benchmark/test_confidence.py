"""Curves from shares to frequencies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.confidence import Named, Point, fit, least, named_by_set, validated
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


def test_what_the_rules_are_surer_of_is_never_less_likely() -> None:
    curves = fit([*points("unanswerable", 0.97, 8, 10), *points("unanswerable", 0.5, 10, 10)])
    assert curves[QuestionKind.UNANSWERABLE].slope == 0.0
    assert curves[QuestionKind.UNANSWERABLE].at(0.97) == pytest.approx(0.9, abs=1e-4)


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


def test_what_is_named_of_a_set_may_be_told_without_its_conversation() -> None:
    sure = Point(0.99, QuestionKind.PLAIN, "a", True, True, "mem0_a", "one")
    wrong = Point(0.99, QuestionKind.PLAIN, "b", True, False, "mem0_b", "other")
    some = [*[sure] * 90, *[wrong] * 8]
    assert named_by_set(some, None)["one"] == Named(90, 90, 90)
    held_out = named_by_set(some, lambda one: one.conversation)
    assert held_out == {"one": Named(90, 0, 0), "other": Named(8, 8, 0)}


def test_the_threshold_looks_at_what_was_drawn_from_all_failures_only() -> None:
    drawn = points("plain", 0.9, 20, 20)
    chosen = [replace(one, random=False) for one in points("plain", 0.9, 0, 20)]
    curves = fit(drawn)
    assert least([*drawn, *chosen], curves) == least(drawn, curves)
