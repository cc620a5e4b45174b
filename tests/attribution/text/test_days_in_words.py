"""Days of the month in words."""

from __future__ import annotations

import pytest

from attribution.text.dates import mentions
from attribution.text.days_in_words import with_day_digits


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("It's on the third of February.", (2, 3)),
        ("on May the twenty-first", (5, 21)),
        ("am dritten Februar", (2, 3)),
        ("der einunddreißigste Mai", (5, 31)),
        ("le premier mars", (3, 1)),
        ("op de derde februari", (2, 3)),
        ("zwei Mai", (5, 2)),
    ],
)
def test_a_day_in_words_is_the_day(text: str, day: tuple[int, int]) -> None:
    (found,) = mentions(text)
    assert found.yearless == day


@pytest.mark.parametrize(
    "text",
    ["two June bugs", "one September day", "one of June's friends", "I march second in line", "the last of March"],
)
def test_other_words_before_a_month_are_no_days(text: str) -> None:
    assert with_day_digits(text) == text


def test_every_other_word_keeps_its_place() -> None:
    text = "on the twenty-first of August at Ada's"
    told = with_day_digits(text)
    assert told.index("August") == text.index("August")
    assert len(told) == len(text)
