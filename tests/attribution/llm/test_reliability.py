"""By which factor a judgement changes the odds of a finding."""

from __future__ import annotations

import pytest

from attribution.llm.walk.reliability import Counts, changed


def test_a_model_that_is_wrong_is_not_believed_either_way() -> None:
    wrong = Counts(true=(10, 1, 9), false=(10, 9, 1))
    assert (wrong.factor(yes=True), wrong.factor(yes=False)) == (1.0, 1.0)


def test_a_factor_is_a_ratio_of_rates() -> None:
    counts = Counts(true=(10, 7, 2), false=(10, 1, 8))
    assert counts.factor(yes=True) == pytest.approx(7.5 / 1.5)
    assert counts.factor(yes=False) == pytest.approx(2.5 / 8.5)


def test_a_factor_changes_the_odds() -> None:
    assert changed(0.5, 4.0) == pytest.approx(0.8)
    assert changed(0.2, 1.0) == pytest.approx(0.2)
    assert changed(0.9, 1 / 9) == pytest.approx(0.5)
    assert (changed(0.0, 5.0), changed(1.0, 0.1)) == pytest.approx((0.0, 1.0))
