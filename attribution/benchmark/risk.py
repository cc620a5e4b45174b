"""Risk against coverage: how often verdicts are right if only the surest are named (R. El-Yaniv, Y. Wiener 2010)."""

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
    """What naming only verdicts of some confidence and more gives.

    Attributes:
        coverage: the part of all cases that is named.
        accuracy: the part of these whose type and operation are right.
    """

    confidence: float
    coverage: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """Risk (1 - accuracy) against coverage.

    Abstentions are the least sure of all cases, and never right. Among verdicts of equal confidence any order is as
    good, so each counts as right as they are on average.

    Attributes:
        curve: a point for each confidence, the surest first; abstentions have none.
        area: under the curve: the mean risk over coverages of 1, 2, … of all cases; 0 is perfect. None without cases.
        accuracy: at some coverages, by percent.
    """

    curve: list[RiskPoint]
    area: float | None
    accuracy: dict[str, float | None]


def risk_coverage(labelled: Sequence[Result]) -> RiskCoverage:
    """Risk against coverage of some results that have labels."""
    said = [(one.verdict.confidence, one.is_right) for one in labelled if not one.is_abstention]
    return risk_of(said, len(labelled) - len(said))


def risk_of(said: Sequence[tuple[float, bool]], abstentions: int = 0) -> RiskCoverage:
    """Risk against coverage of verdicts: the confidence of each, and whether it is right."""
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
