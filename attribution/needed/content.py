"""The content of a short text: weighted words, numbers and dates, and how much of it a sentence has."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from attribution.text.dates import Interval
from attribution.text.lexicon import NEAR, SAME, best_likeness, likeness
from attribution.text.segments import Placed, Sentence, passage

DATE_WEIGHT = 2.0
"""A date weighs as much as some rare words, however many words it has."""
NUMBER_WEIGHT = 1.0
_WIDE = 3.0
"""A text names a date if it has a range of mostly the same days, at most this many times as long."""
_SLACK_DAYS = 6
CREDIT = {1.0: 1.0, SAME: 0.85, NEAR: 0.65, 0.0: 0.0}
"""Likeness of two words: the share of the word's weight that the other word counts."""


class Rarity:
    """Weights of words by the number of messages with the word: 0 (all messages) to about 1 (one message)."""

    def __init__(self, texts: Iterable[Iterable[str]]) -> None:
        self._counts: Counter[str] = Counter()
        self._weights: dict[str, float] = {}
        self._texts = 0
        for stems in texts:
            self._texts += 1
            self._counts.update(set(stems))

    def __call__(self, stem: str) -> float:
        """The weight of a stem."""
        weight = self._weights.get(stem)
        if weight is None:
            weight = self._weights[stem] = self._weigh(stem)
        return weight

    def _weigh(self, stem: str) -> float:
        if self._texts < 2:
            return 1.0
        return max(0.05, 1.0 - math.log(1 + self._counts[stem]) / math.log(1 + self._texts))


@dataclass(frozen=True, slots=True)
class Content:
    """The weighted content of a short text: words (by stem), numbers and dates."""

    words: Mapping[str, float]
    numbers: frozenset[float]
    dates: tuple[Interval, ...]

    @property
    def weight(self) -> float:
        """The sum of all weights."""
        return sum(self.words.values()) + NUMBER_WEIGHT * len(self.numbers) + DATE_WEIGHT * len(self.dates)

    def without(self, stems: Iterable[str], numbers: Iterable[float] = ()) -> Content:
        """The content without some words and numbers; unchanged if nothing would be left."""
        dropped = set(stems)
        words = {word: weight for word, weight in self.words.items() if word not in dropped}
        left = Content(words, self.numbers - frozenset(numbers), self.dates)
        return left if left.weight else self


def content(text: str, rarity: Rarity, reference: int | None = None) -> Content:
    """The content of a text. ``reference`` is the day that relative dates refer to (an ordinal)."""
    words: dict[str, float] = {}
    numbers: set[float] = set()
    dates: list[Interval] = []
    for placed in passage(text, reference):
        one = placed.sentence
        words |= {stem: rarity(stem) for stem in one.stems if not _is_digits(stem)}
        numbers |= one.numbers
        dates += [days for days in (date.on(placed.reference) for date in one.dates) if days is not None]
    return Content(words, frozenset(numbers), tuple(dict.fromkeys(dates)))


def found(wanted: Content, place: Placed) -> float:
    """The share of the wanted weight that a sentence has, 0 to 1."""
    total = wanted.weight
    if not total:
        return 0.0
    one = place.sentence
    got = sum(weight * credit_in(word, one) for word, weight in wanted.words.items())
    got += NUMBER_WEIGHT * len(wanted.numbers & one.numbers)
    got += DATE_WEIGHT * sum(tells(one, days, place.reference) for days in wanted.dates)
    return got / total


def credit_in(stem: str, one: Sentence) -> float:
    """The share of a word's weight that a sentence has: 1 for the word itself, less for a similar word."""
    return CREDIT[best_likeness(stem, one.stems)]


def credit(wanted: str, word: str) -> float:
    """The share of a wanted word's weight that another word has: 1 for the same word."""
    return CREDIT[likeness(wanted, word)]


def matches(wanted: Iterable[str], words: Sequence[str]) -> dict[str, str]:
    """For each wanted word, the same word or the most similar one; each word is used once."""
    same = {word: word for word in wanted if word in words}
    left = [word for word in words if word not in same]
    for word in wanted:
        if word in same:
            continue
        best = max(((likeness(word, other), -number) for number, other in enumerate(left)), default=(0.0, 0))
        if best[0] > 0:
            same[word] = left.pop(-best[1])
    return same


def tells(one: Sentence, days: Interval, reference: int | None) -> bool:
    """Whether a sentence names these days, not within a much longer range."""
    return any(same_days(days, told.on(reference)) for told in one.dates)


def tells_exactly(one: Sentence, days: Interval, reference: int | None) -> bool:
    """Whether a sentence names these days and hardly any others."""
    named = [told for date in one.dates if (told := date.on(reference)) is not None]
    return any(same_days(days, told) and told.days <= days.days + _SLACK_DAYS for told in named)


def same_days(wanted: Interval, told: Interval | None) -> bool:
    """Whether a named date is the wanted one, or lies within the wanted one."""
    if told is None or told.days > _WIDE * wanted.days + _SLACK_DAYS:
        return False
    return wanted.overlap(told) * 2 >= min(told.days, wanted.days)


def _is_digits(stem: str) -> bool:
    return stem[0].isdigit()
