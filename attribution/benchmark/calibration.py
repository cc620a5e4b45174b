"""Compares a method's confidence with its accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.benchmark.result import Result

BINS = 10


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Verdicts with a confidence from ``low`` to below ``high`` (the last bin includes 1)."""

    low: float
    high: float
    count: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Confidence against the share of verdicts with right type and operation; abstentions don't count.

    Attributes:
        expected_calibration_error: mean distance of confidence and accuracy over the bins, weighted by count
            (M. P. Naeini 2015); 0 is perfect. None without verdicts.
    """

    cases: int
    expected_calibration_error: float | None
    bins: list[ConfidenceBin]


def calibrate(labelled: Sequence[Result]) -> Calibration:
    """The calibration of some results."""
    members: list[list[Result]] = [[] for _ in range(BINS)]
    answered = [result for result in labelled if not result.is_abstention]
    for result in answered:
        members[min(max(int(result.verdict.confidence * BINS), 0), BINS - 1)].append(result)
    bins = [_bin(place, inside) for place, inside in enumerate(members)]
    error = sum(
        one.count * abs(one.confidence - one.accuracy)
        for one in bins
        if one.confidence is not None and one.accuracy is not None
    )
    return Calibration(len(answered), error / len(answered) if answered else None, bins)


def _bin(place: int, inside: Sequence[Result]) -> ConfidenceBin:
    count = len(inside)
    return ConfidenceBin(
        low=place / BINS,
        high=(place + 1) / BINS,
        count=count,
        confidence=sum(result.verdict.confidence for result in inside) / count if count else None,
        accuracy=sum(result.is_right for result in inside) / count if count else None,
    )
