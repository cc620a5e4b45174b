"""Turns scores into probabilities."""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files

import msgspec

from schema.kinds import QuestionKind

CURVES = "confidence.json"
"""The file of fitted curves (Platt 1999) beside this module, made by ``python -m benchmarks.confidence``."""

_STEEPNESS = 10.0


def likely(score: float, threshold: float) -> float:
    """The probability of a score by a logistic curve that is 0.5 at the threshold."""
    return 1.0 / (1.0 + math.exp(-_STEEPNESS * (score - threshold)))


def score_of(probability: float, threshold: float) -> float:
    """The score that ``likely`` turns into a probability."""
    return threshold + logit(probability) / _STEEPNESS


def confidence(share: float, kind: QuestionKind) -> float:
    """The measured frequency with which verdicts of such a share are right.

    Args:
        share: the probability that the rules assign, 0 to 1.
        kind: of the question; each kind has its own fitted curve.

    Returns:
        0.01 to 0.99.
    """
    curve = _fitted().curves[kind]
    return round(min(0.99, max(0.01, 1.0 / (1.0 + math.exp(-curve.slope * logit(share) - curve.intercept)))), 4)


def logit(share: float) -> float:
    """The logarithm of the odds of a share, which is first clipped to 0.001 to 0.999."""
    cut = min(0.999, max(0.001, share))
    return math.log(cut / (1.0 - cut))


def least() -> float:
    """The confidence from which nine tenths of the verdicts on natural failures are right."""
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
