"""Long texts are read for what the gold answers have, and for nothing else: reading one takes milliseconds."""

from __future__ import annotations

import pytest

from attribution.needed import gold_agreement, told_numbers
from attribution.needed.content import Rarity, content
from attribution.needed.gold_agreement import agreement
from attribution.text.clock import Time, times

_RARITY = Rarity(())
_SAID = "On 3 May at 14:30 Ada said that two days ago the ferry AB-12 left at a quarter past five. "
_TEXT = _SAID + "It rains. " * 200


def _refuses(text: str) -> list[object]:
    raise AssertionError(f"read {text!r}")


@pytest.mark.parametrize(
    ("golds", "read"),
    [
        ((), ()),
        (("the ferry",), ("the ferry",)),
        (("at 14:30",), ("at 14:30", _TEXT)),
    ],
)
def test_times_of_a_long_text_are_read_only_beside_a_gold_answer_with_a_time(
    golds: tuple[str, ...], read: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def counted(text: str, *, is_wanted: bool = False) -> list[Time]:
        seen.append(text)
        return times(text, is_wanted=is_wanted)

    monkeypatch.setattr(told_numbers, "times", counted)
    monkeypatch.setattr(gold_agreement, "measures_alike", lambda *_: None)  # the function reads short texts
    agreement(content("the ferry", _RARITY), _TEXT, golds)
    assert tuple(seen) == read


def test_dates_and_codes_of_a_text_are_not_read_without_gold_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told_numbers, "times", _refuses)
    monkeypatch.setattr(gold_agreement, "_relative_days", _refuses)
    monkeypatch.setattr(gold_agreement, "_codes", _refuses)
    found = agreement(content("the ferry", _RARITY), _TEXT)
    assert (found.recall, found.conflicts) == (1.0, False)


@pytest.mark.parametrize(
    ("gold", "conflicts"),
    [
        ("14:30", False),
        ("at 13:30", True),
        ("AB-12", False),
        ("AB-21", True),
        ("two days ago", False),
        ("three days ago", True),
    ],
)
def test_a_text_conflicts_with_another_time_code_or_relative_date(gold: str, conflicts: bool) -> None:
    short = "The ferry AB-12 left two days ago, at 14:30."
    assert agreement(content(gold, _RARITY), short, (gold,)).conflicts is conflicts
