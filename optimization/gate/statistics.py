"""Exact statistics of the gate.

Answers in one conversation come from the same memory, so answers are no independent trials: a test by question would
accept far more useless changes than ``alpha``. The sign-flip test therefore compares conversations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

_STEPS = 60
"""Halvings of an interval; more would not change a float."""


def sign_flip(differences: Sequence[int]) -> float:
    """The exact one-sided p-value of the sign-flip test (Fisher's randomisation test of pairs).

    If the change did nothing, each conversation's difference is as likely to have the opposite sign. The p-value is the
    share of all sign combinations whose sum is at least the observed sum.

    Args:
        differences: number of right answers after the change minus the number before, per conversation.

    Returns:
        A number above 0 and at most 1; 1 if no conversation differs.
    """
    changed = [difference for difference in differences if difference]
    if not changed:
        return 1.0
    worlds = Counter({0: 1})
    for difference in changed:
        after: Counter[int] = Counter()
        for total, count in worlds.items():
            after[total + difference] += count
            after[total - difference] += count
        worlds = after
    observed = sum(changed)
    return float(sum(count for total, count in worlds.items() if total >= observed) / (1 << len(changed)))


def upper_bound(events: int, trials: int, alpha: float) -> float:
    """The one-sided upper bound of a probability by Clopper and Pearson (Biometrika 26, 1934).

    Args:
        events: number of trials with the event.
        trials: number of trials.
        alpha: probability that the true value is above the bound.

    Returns:
        The bound; 1 without trials.
    """
    if trials == 0 or events >= trials:
        return 1.0
    low, high = events / trials, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _at_most(events, trials, middle) > alpha:
            low = middle
        else:
            high = middle
    return high


def controls_needed(margin: float, alpha: float) -> int:
    """The number of controls, none of them harmed, that shows at level ``alpha`` that at most ``margin`` are harmed."""
    return math.ceil(math.log(alpha) / math.log1p(-margin))


def conversations_needed(alpha: float) -> int:
    """The smallest number of conversations with which the sign-flip test can reach ``alpha``."""
    return math.ceil(-math.log2(alpha))


def _at_most(events: int, trials: int, probability: float) -> float:
    return math.fsum(
        math.comb(trials, count) * probability**count * (1 - probability) ** (trials - count)
        for count in range(events + 1)
    )
