"""Whether two runs over the same questions differ by more than chance."""

from __future__ import annotations


def mcnemar(fixed: int, broken: int) -> float:
    """The p value of the exact McNemar test (Q. McNemar 1947; the binomial instead of its approximation), two-sided.

    Only questions that one run answered well and the other did not say anything: if the runs are equally good, each is
    as likely to be fixed as broken. The p value is how often a split is then at least as uneven as this one.

    Args:
        fixed: questions that only the first run answered wrongly.
        broken: questions that only the second run answered wrongly.
    """
    total, less = fixed + broken, min(fixed, broken)
    ways = one = 1
    for place in range(less):
        one = one * (total - place) // (place + 1)
        ways += one
    p_value: float = 2 * ways / 2**total
    return min(1.0, p_value)
