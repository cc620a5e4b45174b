"""Risk against coverage: how many verdicts are right among the surest."""

from __future__ import annotations

from collections.abc import Sequence

Said = tuple[float, bool]
"""The confidence of a verdict, and whether it is right."""


def at_coverage(said: Sequence[Said], part: float) -> float:
    """The share that is right among the surest part of the verdicts (0 to 1); those of one confidence count alike.

    Where the part ends amid verdicts of one confidence, it takes their mean.
    """
    wanted = max(1.0, part * len(said))
    right = taken = 0.0
    for sure in sorted({sure for sure, _ in said}, reverse=True):
        some = [is_right for confidence, is_right in said if confidence == sure]
        counted = min(float(len(some)), wanted - taken)
        right += counted * sum(some) / len(some)
        taken += counted
        if taken >= wanted:
            break
    return right / taken if taken else 0.0


def curve(said: Sequence[Said]) -> list[tuple[float, float]]:
    """Coverage and the share that is right, after each confidence, from the surest to the least sure."""
    found = []
    taken = right = 0
    for sure in sorted({sure for sure, _ in said}, reverse=True):
        some = [is_right for confidence, is_right in said if confidence == sure]
        taken += len(some)
        right += sum(some)
        found.append((taken / len(said), right / taken))
    return found


def area(said: Sequence[Said]) -> float:
    """The area under the curve of risk against coverage, 0 to 1; less is better (Geifman and El-Yaniv 2017)."""
    steps = len(said)
    return sum(1.0 - at_coverage(said, (n + 1) / steps) for n in range(steps)) / steps if steps else 0.0
