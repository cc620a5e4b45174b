"""Scores, probabilities and confidences at their borders."""

from __future__ import annotations

import math

import pytest

from attribution.verdicts.probabilities import confidence, least, likely, logit, score_of
from schema.kinds import QuestionKind


@pytest.mark.parametrize(
    ("share", "odds"),
    [
        (0.5, 1),
        (0.75, 3),
        (0.2, 1 / 4),
        (0.999, 999),
        (0.9999, 999),
        (1.0, 999),
        (0.995, 199),
        (0.001, 1 / 999),
        (0, 1 / 999),
    ],
)
def test_shares_are_clipped_only_at_a_thousandth(share: float, odds: float) -> None:
    assert logit(share) == pytest.approx(math.log(odds))


def test_a_score_at_the_threshold_is_as_likely_as_not() -> None:
    assert likely(0.6, 0.6) == 0.5
    assert likely(0.7, 0.6) == pytest.approx(1 / (1 + math.exp(-1)))
    assert likely(0.5, 0.6) == pytest.approx(1 - likely(0.7, 0.6))


@pytest.mark.parametrize("threshold", [0.0, 0.45, 0.8])
@pytest.mark.parametrize("score", [0.1, 0.45, 0.7, 1.0])
def test_the_score_of_a_probability_is_the_one_it_was_made_from(score: float, threshold: float) -> None:
    probability = likely(score, threshold)
    if 0.001 < probability < 0.999:
        assert score_of(probability, threshold) == pytest.approx(score)
    else:
        assert score_of(probability, threshold) == pytest.approx(
            threshold + math.copysign(math.log(999) / 10, score - threshold)
        )


@pytest.mark.parametrize("kind", list(QuestionKind))
def test_the_confidence_of_each_kind_grows_with_the_share(kind: QuestionKind) -> None:
    found = [confidence(share, kind) for share in (0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0)]
    assert found == sorted(found)
    assert found[0] == found[1]
    assert found[-1] == found[-2]
    assert 0.01 <= found[0] <= found[-1] <= 0.99
    assert found == [round(one, 4) for one in found]
    assert found[-2] > found[-3] or found[0] == found[-1]


def test_the_threshold_is_a_confidence_that_verdicts_reach() -> None:
    assert confidence(0.0, QuestionKind.PLAIN) < least() < confidence(1.0, QuestionKind.PLAIN)
