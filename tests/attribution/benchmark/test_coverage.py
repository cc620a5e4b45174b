"""Risk against coverage, by hand."""

from __future__ import annotations

import pytest

from attribution.benchmark.coverage import area, at_coverage, curve

SAID = [(0.9, True), (0.9, False), (0.7, True), (0.4, False)]


def test_the_surest_come_first() -> None:
    assert at_coverage(SAID, 0.5) == 0.5
    assert at_coverage(SAID, 0.75) == pytest.approx(2 / 3)
    assert at_coverage(SAID, 1.0) == 0.5


def test_verdicts_of_one_confidence_count_alike() -> None:
    assert at_coverage([(0.9, True), (0.9, False)], 0.5) == at_coverage([(0.9, False), (0.9, True)], 0.5) == 0.5


def test_the_curve_has_a_point_for_each_confidence() -> None:
    assert curve(SAID) == [(0.5, 0.5), (0.75, pytest.approx(2 / 3)), (1.0, 0.5)]


def test_the_area_is_the_mean_risk() -> None:
    assert area([(0.9, True), (0.8, True)]) == 0.0
    assert area([(0.9, True), (0.8, False)]) == 0.25
    assert area([(0.9, False), (0.8, True)]) == 0.75
    assert area([]) == 0.0
