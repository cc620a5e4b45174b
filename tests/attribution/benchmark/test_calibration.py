"""Confidence against accuracy, on results made by hand."""

from __future__ import annotations

import pytest

from attribution.benchmark.calibration import BINS, calibrate
from attribution.benchmark.result import Result
from tests.attribution.benchmark.results import E, U, labelled, result


def results(*verdicts: tuple[float, bool] | None) -> list[Result]:
    """Results with a confidence, right or wrong; None is an abstention."""
    label = labelled(E, "op-1")
    return [
        result(number, label, None, None, confidence=0.95)
        if verdict is None
        else result(number, label, E if verdict[1] else U, "op-1", confidence=verdict[0])
        for number, verdict in enumerate(verdicts)
    ]


def test_the_bins_are_ten_of_equal_width() -> None:
    found = calibrate([])
    assert BINS == 10
    assert [(one.low, one.high) for one in found.bins] == [(place / 10, (place + 1) / 10) for place in range(10)]
    assert {(one.count, one.confidence, one.accuracy) for one in found.bins} == {(0, None, None)}
    assert (found.cases, found.expected_calibration_error) == (0, None)


@pytest.mark.parametrize(
    ("confidence", "place"),
    [(0.0, 0), (0.05, 0), (0.099, 0), (0.1, 1), (0.5, 5), (0.89, 8), (0.9, 9), (0.99, 9), (1.0, 9)],
)
def test_a_bin_reaches_to_below_its_end_and_the_last_one_includes_it(confidence: float, place: int) -> None:
    found = calibrate(results((confidence, True)))
    assert [number for number, one in enumerate(found.bins) if one.count] == [place]
    assert found.bins[place].confidence == confidence


def test_the_error_is_the_distance_weighted_by_the_number_of_verdicts() -> None:
    found = calibrate(results((0.92, True), (0.98, True), (0.94, False), (0.96, False), (0.2, True), None))
    assert found.cases == 5
    sure, unsure = found.bins[9], found.bins[2]
    assert (sure.count, sure.accuracy) == (4, 0.5)
    assert sure.confidence == pytest.approx(0.95)
    assert (unsure.count, unsure.confidence, unsure.accuracy) == (1, 0.2, 1.0)
    assert found.expected_calibration_error == pytest.approx((4 * 0.45 + 1 * 0.8) / 5)


def test_sure_and_right_is_no_error_and_sure_and_wrong_the_largest() -> None:
    assert calibrate(results((1.0, True), (1.0, True))).expected_calibration_error == 0
    assert calibrate(results((1.0, False))).expected_calibration_error == 1
    assert calibrate(results((0.0, False))).expected_calibration_error == 0


def test_abstentions_do_not_count() -> None:
    found = calibrate(results(None, None))
    assert (found.cases, found.expected_calibration_error, sum(one.count for one in found.bins)) == (0, None, 0)
