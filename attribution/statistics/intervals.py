"""Uncertainty of numbers: 95 % intervals of rates, of differences of rates, and of any statistic of cases."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, quantiles
from typing import TypeVar

LEVEL = 0.95
RESAMPLES = 2000
SEED = 20260528

_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)

T = TypeVar("T")
Statistics = Callable[[Sequence[T]], Mapping[str, float | None]]
"""Computes named numbers of some cases. The names never change; an undefined number is None."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float


def wilson(count: int, total: int) -> Interval:
    """The interval of a rate (E. B. Wilson 1927), which is correct for few cases and for rates near 0 and 1.

    Without cases the interval is 0 to 1.
    """
    if not total:
        return Interval(0.0, 1.0)
    rate, square = count / total, _Z * _Z
    middle = (rate + square / (2 * total)) / (1 + square / total)
    half = _Z / (1 + square / total) * math.sqrt(rate * (1 - rate) / total + square / (4 * total * total))
    # At 0 and 1 the formula is exact, but floating-point arithmetic is not.
    low = 0.0 if count == 0 else max(0.0, middle - half)
    high = 1.0 if count == total else min(1.0, middle + half)
    return Interval(low, high)


def difference(count: int, total: int, other: int, other_total: int) -> Interval:
    """The interval of ``other / other_total - count / total`` for two independent samples.

    R. G. Newcombe 1998, method 10, from the Wilson intervals of both rates. Without cases of one sample the interval is
    -1 to 1.
    """
    if not total or not other_total:
        return Interval(-1.0, 1.0)
    rate, other_rate = count / total, other / other_total
    one, two = wilson(count, total), wilson(other, other_total)
    step = other_rate - rate
    return Interval(
        step - math.hypot(other_rate - two.low, one.high - rate),
        step + math.hypot(two.high - other_rate, rate - one.low),
    )


def bootstrap(
    cases: Sequence[T], statistics: Statistics[T], resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Interval | None]:
    """Percentile intervals of some numbers, by drawing the cases again with replacement (B. Efron 1979).

    The same cases in the same order give the same intervals.

    Args:
        cases: what was observed; without cases there are no intervals.
        statistics: computes the numbers of a draw.
        resamples: number of draws.
        seed: of the random numbers.

    Returns:
        The interval of each number; None if it is undefined in most draws.
    """
    if not cases:
        return dict.fromkeys(statistics(cases))
    draw = random.Random(seed)  # noqa: S311 - nobody must be unable to guess it
    found: dict[str, list[float]] = {name: [] for name in statistics(cases)}
    for _ in range(resamples):
        for name, value in statistics(draw.choices(cases, k=len(cases))).items():
            if value is not None:
                found[name].append(value)
    return {name: _percentiles(values, resamples) for name, values in found.items()}


def _percentiles(values: Sequence[float], resamples: int) -> Interval | None:
    if len(values) < max(2, resamples // 2):
        return None
    # With 40 parts, 2.5 % are outside the first and the last cut each.
    cuts = quantiles(values, n=40, method="inclusive")
    return Interval(cuts[0], cuts[-1])
