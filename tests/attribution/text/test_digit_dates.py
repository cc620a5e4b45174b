"""Days and months in digits without a year, read only where days are wanted."""

from __future__ import annotations

from datetime import date

import pytest

from attribution.needed.content import Rarity, content
from attribution.needed.gold_agreement import agreement
from attribution.text.digit_dates import days_in_digits
from attribution.text.intervals import Interval

WANTED = date(2026, 4, 17).toordinal()


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("It opens on 17/04.", ["2026-04-17"]),
        ("It opens on 4/17.", ["2026-04-17"]),
        ("Am 17.4. öffnet es.", ["2026-04-17"]),
        ("It opens on 18/04.", ["2026-04-18"]),
        ("It opens on 5/4 at last.", ["2026-04-05"]),
        ("Apre il 17/4/2026.", ["2026-04-17"]),
        ("Apre il 17/4/2025.", ["2025-04-17"]),
        ("Version 17.04.2", []),
        ("17/40 of them", []),
        ("at 17:04", []),
    ],
)
def test_days_in_digits(text: str, days: list[str]) -> None:
    found = days_in_digits(text, [Interval(WANTED, WANTED)])
    assert [str(date.fromordinal(one.first)) for one in found] == days
    assert days_in_digits(text, []) == []


@pytest.mark.parametrize(
    ("answer", "recall", "conflicts"), [("Abre em 17/04.", 1.0, False), ("Abre em 14/07.", 0.0, True)]
)
def test_an_answer_names_the_day_in_digits(answer: str, recall: float, conflicts: bool) -> None:
    gold = "no dia 17 de abril"  # "no" is "in the" in Portuguese, and denies nothing
    found = agreement(content(gold, Rarity(()), WANTED).without(["dia"]), answer, [gold], frozenset({"dia"}))
    assert (found.recall, found.conflicts) == (recall, conflicts)
