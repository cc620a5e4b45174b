"""What an answer gives and another answer does not: a day, a day of the week, a number, or words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from attribution.needed.content import Content, names_days, share_found
from attribution.text.intervals import Interval
from attribution.text.languages import is_function_word
from attribution.text.numbers import number
from attribution.text.segments import Placed, Sentence
from attribution.text.tokens import tokens
from attribution.text.weekdays import weekdays

_NAME = 3
"""An answer of so many words may be a name alone."""
_WORDS = 0.75
"""A sentence tells words with at least this share of them, by rarity."""


@dataclass(frozen=True, slots=True)
class AnswerValue:
    """What only one of two answers gives. One attribute is set.

    Attributes:
        days: of the calendar.
        weekdays: 0 is Monday.
        number: the first number.
        words: by rarity.
    """

    days: tuple[Interval, ...] = ()
    weekdays: frozenset[int] = frozenset()
    number: float | None = None
    words: Content | None = None

    def is_told(self, placed: Placed) -> bool:
        """Whether a sentence tells the value; ``Monday the 9th`` tells the 9th of any month."""
        one = placed.sentence
        if self.days:
            return any(_names_day(placed, days) for days in self.days)
        if self.weekdays:
            return self.weekdays <= weekdays(one.text)
        if self.number is not None:
            return self.number in one.numbers
        return self.words is not None and share_found(self.words, placed) >= _WORDS

    def may_be_told(self, gist: Sentence, text: str, day: int | None) -> bool:
        """A cheap test: False only if no sentence of a text tells the value.

        Args:
            gist: all words, numbers and dates of the text as one sentence.
            text: the text.
            day: the day of the message (an ordinal).
        """
        if self.days:
            by_number = any(float(date.fromordinal(one.first).day) in gist.numbers for one in self.days)
            return by_number or any(names_days(gist, one, day) for one in self.days)
        if self.weekdays:
            return self.weekdays <= weekdays(text)
        return self.is_told(Placed(0, gist, day))


def value_of(told: Content, text: str, other: str, *, is_sure: bool = True) -> AnswerValue | None:
    """What an answer gives and another answer does not; None if any sentence may tell it by chance.

    Args:
        told: the answer's content beyond the question.
        text: the answer.
        other: the other answer.
        is_sure: whether one word that is no name is too little.
    """
    if told.dates:
        return AnswerValue(days=told.dates)
    if days := weekdays(text) - weekdays(other):
        return AnswerValue(weekdays=days)
    theirs = {one.stem for one in tokens(other)}
    if told.numbers:
        values = [number(one.word) for one in tokens(text)]
        first = next((one for one in values if one in told.numbers), min(told.numbers))
        return None if first in {number(one.word) for one in tokens(other)} else AnswerValue(number=first)
    words = {one: weight for one, weight in told.words.items() if one not in theirs and not is_function_word(one)}
    said = tokens(text)
    named = {one.stem for one in (said if len(said) <= _NAME else said[1:]) if text[one.start].isupper()}
    if not words and len(said) <= _NAME:
        words = dict.fromkeys(named - theirs, 1.0)  # a speaker's name is no content of a message
    if not words or (is_sure and len(words) < 2 and not named & words.keys()):
        return None
    return AnswerValue(words=Content(words, frozenset(), ()))


def _names_day(placed: Placed, days: Interval) -> bool:
    if names_days(placed.sentence, days, placed.reference):
        return True
    is_one_day = days.first == days.last and not placed.sentence.dates
    return is_one_day and float(date.fromordinal(days.first).day) in placed.sentence.numbers
