"""Fisher's exact test for comparing two rates."""

from __future__ import annotations

from math import comb


def fisher(right: int, draws: int, other_right: int, other_draws: int) -> float:
    """The probability of at least ``right`` right draws in the first group if both groups had the same rate.

    One-sided exact test (R. A. Fisher 1935): a sum of the hypergeometric distribution. 1 without draws.
    """
    if not draws or not other_draws:
        return 1.0
    all_right, everything = right + other_right, draws + other_draws
    most = min(all_right, draws)
    ways = sum(comb(draws, k) * comb(other_draws, all_right - k) for k in range(right, most + 1))
    return ways / comb(everything, all_right)
