"""Scores as probabilities."""

from __future__ import annotations

import math

_STEEPNESS = 10.0


def likely(score: float, threshold: float) -> float:
    """The probability that goes with a score: a half at its threshold (logistic)."""
    return 1.0 / (1.0 + math.exp(-_STEEPNESS * (score - threshold)))


def calibrated(share: float) -> float:
    """The probability that a verdict is right which has such a share of the rules' likelihood.

    The rules multiply doubts that go together, and so doubt too much; the square root takes some of that back
    (docs/attribution.md has the table of calibration).
    """
    return round(min(0.99, math.sqrt(max(0.0, share))), 4)
