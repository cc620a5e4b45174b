"""Scores as probabilities."""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files

import msgspec

from schema.kinds import QuestionKind

CURVES = "confidence.json"
"""The fitted curves (Platt 1999), beside this module; ``python -m benchmarks.confidence`` makes them."""

_STEEPNESS = 10.0


def likely(score: float, threshold: float) -> float:
    """The probability that goes with a score: a half at its threshold (logistic)."""
    return 1.0 / (1.0 + math.exp(-_STEEPNESS * (score - threshold)))


def confidence(share: float, kind: QuestionKind) -> float:
    """The measured frequency with which verdicts of such a share are right.

    Args:
        share: what the rules say, 0 to 1.
        kind: of the question; a curve was fitted for each.

    Returns:
        0.01 to 0.99.
    """
    curve = _fitted().curves[kind]
    return round(min(0.99, max(0.01, 1.0 / (1.0 + math.exp(-curve.slope * logit(share) - curve.intercept)))), 4)


def logit(share: float) -> float:
    """The logarithm of the odds of a share. Shares are cut at 0.001 and 0.999, because nothing is surer than that."""
    cut = min(0.999, max(0.001, share))
    return math.log(cut / (1.0 - cut))


def least() -> float:
    """The confidence from which nine tenths of the verdicts on failures that happened by themselves are right."""
    return _fitted().least


class _Curve(msgspec.Struct):
    slope: float
    intercept: float


class _Fitted(msgspec.Struct):
    curves: dict[str, _Curve]
    least: float


@cache
def _fitted() -> _Fitted:
    return msgspec.json.decode(files("attribution.verdicts").joinpath(CURVES).read_bytes(), type=_Fitted)
