"""Risk against coverage, on results made by hand."""

from __future__ import annotations

import random

import pytest

from attribution.benchmark.result import Result
from attribution.benchmark.risk import RiskPoint, risk_coverage
from tests.attribution.benchmark.results import E, U, labelled, result


def results(*verdicts: tuple[float, bool] | None) -> list[Result]:
    """Results of some confidences, right or wrong; None is an abstention."""
    label = labelled(E, "op-1")
    return [
        result(number, label, None, None, confidence=0.0)
        if verdict is None
        else result(number, label, E if verdict[1] else U, "op-1", confidence=verdict[0])
        for number, verdict in enumerate(verdicts)
    ]


def test_the_surest_come_first() -> None:
    found = risk_coverage(results((0.5, False), (0.9, True), (0.7, False), (0.8, True)))
    assert found.curve == [
        RiskPoint(0.9, 0.25, 1.0),
        RiskPoint(0.8, 0.5, 1.0),
        RiskPoint(0.7, 0.75, 2 / 3),
        RiskPoint(0.5, 1.0, 0.5),
    ]
    assert found.area == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)
    assert found.accuracy == {"50": 1.0, "70": pytest.approx(2 / 3), "90": 0.5}


def test_abstentions_are_the_least_sure_and_never_right() -> None:
    found = risk_coverage(results((0.9, True), (0.8, True), None, None))
    assert [point.coverage for point in found.curve] == [0.25, 0.5]
    assert found.accuracy == {"50": 1.0, "70": pytest.approx(2 / 3), "90": 0.5}


def test_verdicts_of_equal_confidence_count_alike_in_any_order() -> None:
    some = results((0.9, True), (0.9, False), (0.9, False), (0.9, True), (0.4, False))
    found = risk_coverage(some)
    assert found.accuracy == {"50": 0.5, "70": 0.5, "90": 0.4}
    random.Random(3).shuffle(some)
    assert risk_coverage(some) == found


def test_without_cases_there_are_no_numbers() -> None:
    found = risk_coverage([])
    assert (found.curve, found.area, set(found.accuracy.values())) == ([], None, {None})
