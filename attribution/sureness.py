"""Scores as probabilities."""

from __future__ import annotations

import math

_STEEPNESS = 10.0


def likely(score: float, threshold: float) -> float:
    """The probability that goes with a score: a half at its threshold (logistic)."""
    return 1.0 / (1.0 + math.exp(-_STEEPNESS * (score - threshold)))


def calibrated(share: float) -> float:
    """A share of the rules as the probability that the verdict is right."""
    return round(min(0.99, max(0.0, share)), 4)
