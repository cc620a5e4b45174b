"""How surely a rate is higher than another one."""

from __future__ import annotations

from math import comb


def fisher(right: int, draws: int, other_right: int, other_draws: int) -> float:
    """The probability, if both rates were the same, of at least so many right draws of the first.

    Fisher's exact test, one-sided (R. A. Fisher 1935): a sum of the hypergeometric distribution. 1 without draws.
    """
    if not draws or not other_draws:
        return 1.0
    all_right, everything = right + other_right, draws + other_draws
    most = min(all_right, draws)
    ways = sum(comb(draws, k) * comb(other_draws, all_right - k) for k in range(right, most + 1))
    return ways / comb(everything, all_right)
