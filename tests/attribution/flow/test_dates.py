"""Dates as intervals, absolute and told from a day."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.text.dates import mentions

SAID_ON = date(2023, 7, 3).toordinal()  # a Monday

CASES = [
    ("on 5 July 2023", "2023-07-05", "2023-07-05"),
    ("July 5th, 2023", "2023-07-05", "2023-07-05"),
    ("Wednesday, July 5", "2023-07-05", "2023-07-05"),
    ("the 21st of October", "2023-10-21", "2023-10-21"),
    ("2023-07-05", "2023-07-05", "2023-07-05"),
    ("2023年7月5日", "2023-07-05", "2023-07-05"),
    ("7/5/2023", "2023-07-05", "2023-07-05"),
    ("in August 2023", "2023-08-01", "2023-08-31"),
    ("October, 2023", "2023-10-01", "2023-10-31"),
    ("in 2022", "2022-01-01", "2022-12-31"),
    ("summer of 2022", "2022-06-01", "2022-08-31"),
    ("the week before 3 July 2023", "2023-06-26", "2023-07-02"),
    ("the week prior to the 3rd of July 2023", "2023-06-26", "2023-07-02"),
    ("the week preceding July 3", "2023-06-26", "2023-07-02"),
    ("the Friday before 22 October 2023", "2023-10-20", "2023-10-20"),
    ("two weekends before 17 July 2023", "2023-07-07", "2023-07-10"),
    ("yesterday", "2023-07-02", "2023-07-02"),
    ("the day before yesterday", "2023-07-01", "2023-07-01"),
    ("last week", "2023-06-26", "2023-07-02"),
    ("last Friday", "2023-06-30", "2023-06-30"),
    ("next month", "2023-08-01", "2023-08-31"),
    ("last year", "2022-01-01", "2022-12-31"),
    ("last summer", "2022-06-01", "2022-08-31"),
    ("three days ago", "2023-06-30", "2023-06-30"),
    ("a couple of days ago", "2023-06-29", "2023-07-02"),
    ("in two days", "2023-07-05", "2023-07-05"),
    ("ten years ago", "2013-01-01", "2013-12-31"),
    ("seit Dienstag", "2023-06-27", "2023-06-27"),
    ("am Freitag", "2023-06-30", "2023-06-30"),
    ("am Dienstag, dem 4. Juli 2023", "2023-07-04", "2023-07-04"),
    ("desde el martes", "2023-06-27", "2023-06-27"),
    ("el miércoles", "2023-06-28", "2023-06-28"),
    ("el viernes pasado", "2023-06-30", "2023-06-30"),
    ("el jueves que viene", "2023-07-06", "2023-07-06"),
    ("depuis mardi", "2023-06-27", "2023-06-27"),
]


@pytest.mark.parametrize(("text", "first", "last"), CASES)
def test_days(text: str, first: str, last: str) -> None:
    (mention,) = mentions(text)
    days = mention.on(SAID_ON)
    assert days is not None
    assert (date.fromordinal(days.first).isoformat(), date.fromordinal(days.last).isoformat()) == (first, last)


def test_vague_counts_are_wide() -> None:
    (few,), (two,) = mentions("a few weeks ago"), mentions("two weeks ago")
    wide, narrow = few.on(SAID_ON), two.on(SAID_ON)
    assert wide is not None
    assert narrow is not None
    assert wide.days > 2 * narrow.days


@pytest.mark.parametrize(
    "text", ["2023-07-17T14:31:00", "July 17, 2023 (Monday) at 02:31 PM", "[2023-05-08 13:56:00] Ann: hello"]
)
def test_a_time_of_day_makes_a_timestamp(text: str) -> None:
    (mention,) = mentions(text)
    assert mention.is_stamp


@pytest.mark.parametrize("text", ["31 February 2023", "13/45/2023", "may I go", "room 2x23", "no date at all"])
def test_what_is_no_day_is_no_day(text: str) -> None:
    found = [mention.on(SAID_ON) for mention in mentions(text)]
    assert [days for days in found if days is not None and days.days == 1] == []


def test_relative_days_need_a_day_to_be_told_from() -> None:
    (mention,) = mentions("yesterday")
    assert mention.on(None) is None


@given(st.text(), st.integers(1, 3_000_000))
def test_any_text_can_be_read(text: str, day: int) -> None:
    ends = [0]
    for mention in mentions(text):
        assert 0 <= mention.start < mention.end <= len(text)
        assert mention.start >= ends[-1]
        ends.append(mention.end)
        days = mention.on(day)
        assert days is None or days.first <= days.last


OF_TIME = """
last next this two a few ten weekend week month year days before after ago july 31 3rd 2023 friday fri of the in 9999
summer 1 0001 prior to and 12
"""
WORDS = st.sampled_from(OF_TIME.split())


@given(st.lists(WORDS, max_size=12), st.integers(1, 3_652_059))
def test_any_row_of_words_of_time_can_be_read(words: list[str], day: int) -> None:
    for mention in mentions(" ".join(words)):
        days = mention.on(day)
        assert days is None or days.first <= days.last
