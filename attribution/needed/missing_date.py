"""Answers with a day of the week or a relative date where a date of the calendar is wanted."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.needed.content import same_days
from attribution.needed.question import polarity
from attribution.text.dates import mentions
from attribution.text.digit_dates import days_in_digits
from attribution.text.intervals import Interval
from attribution.text.tokens import tokens
from attribution.text.weekdays import weekdays

_WEEK = 7
_SHORTEST = 4
"""A word of fewer letters beside a date says nothing: articles and prepositions of all languages are short."""


def tells_no_date(golds: Sequence[str], text: str, asked: int | None = None) -> bool:
    """Whether all gold answers are one day of the calendar, and a text has only ``Saturday`` or ``two weeks ago``.

    A reader of such an answer can't know the day.

    Args:
        golds: gold answers, each right by itself.
        text: the answer.
        asked: the day (an ordinal) on which the question was asked, if it is known: then the text may refer to it.
    """
    wanted = [_only_day(gold) for gold in golds]
    days = [one for one in wanted if one is not None]
    named = weekdays(text)
    if not days or len(days) < len(wanted) or any(weekdays(gold) & named for gold in golds):
        return False
    told = mentions(text)
    if not is_relative(text) or days_in_digits(text, days):
        return False
    if asked is None:
        return True
    is_near = any(abs(day.first - asked) <= _WEEK and day.first % _WEEK in _ordinals(named) for day in days)
    return not is_near and not any(same_days(day, one) for day in days for said in told for one in said.readings(asked))


def is_relative(text: str) -> bool:
    """Whether a text names a day of the week or a relative date, and no date of the calendar."""
    told = mentions(text)
    return all(one.needs_day for one in told) and bool(told or weekdays(text))


def _only_day(gold: str) -> Interval | None:
    """The day that a gold answer names, if it says nothing else; a date without a year counts in no year."""
    found = mentions(gold)
    if len(found) != 1 or found[0].interval is None or found[0].interval.first != found[0].interval.last:
        return None
    rest = f"{gold[: found[0].start]} {gold[found[0].end :]}"
    says_more = polarity(gold) is not None or any(one.carries and len(one.word) >= _SHORTEST for one in tokens(rest))
    return None if says_more else found[0].interval


def _ordinals(named: frozenset[int]) -> frozenset[int]:
    """The remainders of the ordinals of days of the week; the day 1 is a Monday."""
    return frozenset((day + 1) % _WEEK for day in named)
