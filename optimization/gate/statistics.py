"""The exact statistics of the gate, in whole numbers.

Answers of one conversation rest on the same memory, so they are no independent trials: a test that counts questions
accepts far more useless changes than it says. The unit of the first test is therefore the conversation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

_STEPS = 60
"""Halvings of an interval: more than a float can show."""


def sign_flip(differences: Sequence[int]) -> float:
    """The exact one-sided p-value of the sign-flip test (Fisher's randomisation test of pairs).

    If the change did nothing, each conversation's difference is as likely to be its opposite. The p-value is the share
    of all such worlds in which the sum is as large as the one observed.

    Args:
        differences: for each conversation, how many more answers are right after the change.

    Returns:
        A number above 0 and at most 1; 1 where no conversation differs.
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
        events: how often it happened.
        trials: of how often.
        alpha: the chance that the true probability is above the bound.

    Returns:
        The bound; 1 without any trial.
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
    """How many controls it takes to show, if none of them is harmed, that at most ``margin`` are."""
    return math.ceil(math.log(alpha) / math.log1p(-margin))


def conversations_needed(alpha: float) -> int:
    """How many conversations it takes at least for the sign-flip test to give ``alpha``."""
    return math.ceil(-math.log2(alpha))


def _at_most(events: int, trials: int, probability: float) -> float:
    """The chance of at most so many events."""
    return math.fsum(
        math.comb(trials, count) * probability**count * (1 - probability) ** (trials - count)
        for count in range(events + 1)
    )
