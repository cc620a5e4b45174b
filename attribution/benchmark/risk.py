"""Risk against coverage: how often the surest verdicts are right (R. El-Yaniv, Y. Wiener 2010)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from attribution.benchmark.result import Result

COVERAGES = (50, 70, 90)
"""In percent."""


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """Coverage and accuracy of the verdicts with at least some confidence.

    Attributes:
        coverage: the share of all cases with such a verdict.
        accuracy: the share of these verdicts with right type and operation.
    """

    confidence: float
    coverage: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """Risk (1 - accuracy) against coverage.

    Abstentions have the lowest confidence and are never right. Verdicts of equal confidence have no order, so each
    counts with their average accuracy.

    Attributes:
        curve: a point for each confidence, the highest first, without abstentions.
        area: under the curve: the mean risk over coverages of 1, 2, … of all cases; 0 is perfect. None without cases.
        accuracy: at some coverages, by percent.
    """

    curve: list[RiskPoint]
    area: float | None
    accuracy: dict[str, float | None]


def risk_coverage(labelled: Sequence[Result]) -> RiskCoverage:
    """Risk against coverage of labelled results."""
    said = [(one.verdict.confidence, one.is_right) for one in labelled if not one.is_abstention]
    return risk_of(said, len(labelled) - len(said))


def risk_of(said: Sequence[tuple[float, bool]], abstentions: int = 0) -> RiskCoverage:
    """Risk against coverage of verdicts, given as pairs of confidence and whether the verdict is right."""
    total = len(said) + abstentions
    answered = sorted(said, key=lambda pair: -pair[0])
    curve: list[RiskPoint] = []
    right_of_first = [0.0]
    for confidence, group in groupby(answered, key=lambda pair: pair[0]):
        hits = [is_right for _, is_right in group]
        before, share = right_of_first[-1], sum(hits) / len(hits)
        right_of_first += [before + share * (place + 1) for place in range(len(hits))]
        named = len(right_of_first) - 1
        curve.append(RiskPoint(confidence, named / total, right_of_first[-1] / named))
    right_of_first += [right_of_first[-1]] * (total - len(answered))
    accuracies = [right / named for named, right in enumerate(right_of_first) if named]
    return RiskCoverage(
        curve,
        1 - sum(accuracies) / total if total else None,
        {str(percent): accuracies[math.ceil(percent * total / 100) - 1] if total else None for percent in COVERAGES},
    )
