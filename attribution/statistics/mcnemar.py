"""Tests whether two runs over the same questions differ by more than chance."""

from __future__ import annotations


def mcnemar(fixed: int, broken: int) -> float:
    """The p value of the exact two-sided McNemar test (Q. McNemar 1947, with the binomial distribution).

    Counts only the questions that one run answered well and the other run did not. If both runs are equally good, each
    of these questions is as likely fixed as broken. The p value is the probability of a split at least as uneven.

    Args:
        fixed: number of questions that only the first run answered wrongly.
        broken: number of questions that only the second run answered wrongly.
    """
    total, less = fixed + broken, min(fixed, broken)
    ways = one = 1
    for place in range(less):
        one = one * (total - place) // (place + 1)
        ways += one
    p_value: float = 2 * ways / 2**total
    return min(1.0, p_value)
