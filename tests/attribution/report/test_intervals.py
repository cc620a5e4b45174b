from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.statistics.intervals import Interval, bootstrap, difference, wilson


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [
        # R. G. Newcombe 1998, Statistics in Medicine 17, 857-872, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_wilson(count: int, total: int, low: float, high: float) -> None:
    found = wilson(count, total)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


def test_wilson_of_nothing_is_everything() -> None:
    assert wilson(0, 0) == Interval(0.0, 1.0)


@given(st.integers(0, 500), st.integers(1, 500))
def test_wilson_holds_the_rate(count: int, total: int) -> None:
    count = min(count, total)
    found = wilson(count, total)
    assert 0 <= found.low <= count / total <= found.high <= 1
    mirrored = wilson(total - count, total)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((found.low, found.high))


@pytest.mark.parametrize(
    ("after", "before", "low", "high"),
    [
        # R. G. Newcombe 1998, Statistics in Medicine 17, 873-890, table II, method 10.
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((5, 56), (0, 29), -0.0381, 0.1926),
    ],
)
def test_difference(after: tuple[int, int], before: tuple[int, int], low: float, high: float) -> None:
    found = difference(*before, *after)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


def test_difference_to_nothing_is_unknown() -> None:
    assert difference(0, 0, 5, 10) == difference(5, 10, 0, 0) == Interval(-1.0, 1.0)


def mean(cases: Sequence[float]) -> dict[str, float | None]:
    return {"mean": sum(cases) / len(cases) if cases else None}


def test_bootstrap_is_near_what_theory_says_and_repeatable() -> None:
    cases = [1.0] * 80 + [0.0] * 20
    found = bootstrap(cases, mean)["mean"]
    assert found is not None
    # The normal approximation: 0.8 and 1.96 standard errors of 0.04.
    assert (found.low, found.high) == pytest.approx((0.72, 0.88), abs=0.015)
    assert bootstrap(cases, mean)["mean"] == found
    uneven = [0.1, 0.7, 2.9, 11.3, 40.0]
    assert bootstrap(uneven, mean, seed=1) != bootstrap(uneven, mean, seed=2)


def test_bootstrap_of_what_never_varies_is_a_point() -> None:
    assert bootstrap([0.5] * 9, mean) == {"mean": Interval(0.5, 0.5)}


def test_bootstrap_without_cases_has_no_intervals() -> None:
    assert bootstrap([], mean) == {"mean": None}


def test_bootstrap_of_what_is_mostly_undefined_is_none() -> None:
    def seldom(cases: Sequence[float]) -> dict[str, float | None]:
        return {"all": 1.0 if all(cases) else None, "mean": sum(cases) / len(cases)}

    found = bootstrap([0.0, 1.0, 1.0], seldom, resamples=400)
    assert found["all"] is None
    assert found["mean"] is not None
