"""The content of a short text: weighted words, numbers and dates, and how much of it a sentence has."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from attribution.text.intervals import Interval
from attribution.text.lexicon import NEAR, SAME, Alike, best_likeness, likeness
from attribution.text.scripts import is_light
from attribution.text.segments import Placed, Sentence, passage

DATE_WEIGHT = 2.0
"""A date weighs as much as some rare words, however many words it has."""
NUMBER_WEIGHT = 1.0
_WIDE = 3.0
"""A text names a date if it has a range of mostly the same days, at most this many times as long."""
_SLACK_DAYS = 6
CREDIT = {1.0: 1.0, SAME: 0.85, NEAR: 0.65, 0.0: 0.0}
"""Likeness of two words: the share of the word's weight that the other word counts."""

_LEVELS = {NEAR: 0b001, SAME: 0b011, 1.0: 0b111}
_CREDIT_OF = {0: 0.0} | {bits: CREDIT[likeness] for likeness, bits in _LEVELS.items()}
SURELY = 1.001
"""Factor that makes an upper bound safe against rounding of sums."""

_ROUNDED = 1e-6
_LIGHT = 0.3
"""Factor for single characters of scripts without spaces; the pairs of characters carry the rest."""


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
            weight = self._weights[stem] = self._weigh(stem) * (_LIGHT if is_light(stem) else 1.0)
        return weight

    def is_told(self, stem: str) -> bool:
        """Whether any message has the stem."""
        return stem in self._counts

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


def share_found(wanted: Content, place: Placed) -> float:
    """The share of the wanted weight that a sentence has, 0 to 1."""
    total = wanted.weight
    if not total:
        return 0.0
    one = place.sentence
    got = sum(weight * credit_in(word, one) for word, weight in wanted.words.items())
    got += NUMBER_WEIGHT * len(wanted.numbers & one.numbers)
    got += DATE_WEIGHT * sum(names_days(one, days, place.reference) for days in wanted.dates)
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


def names_days(one: Sentence, days: Interval, reference: int | None) -> bool:
    """Whether a sentence names these days, not within a much longer range."""
    return any(same_days(days, told) for date in one.dates for told in date.readings(reference))


def names_days_as_written(one: Sentence, days: Interval, reference: int | None, said_on: int | None) -> bool:
    """Whether a stored sentence still names these days.

    Args:
        one: the sentence.
        days: the wanted days.
        reference: the day that the text around the sentence gives, for relative dates (an ordinal); None if it gives
            none: then a relative date has lost its meaning.
        said_on: the day on which the message was said, for dates without a year.
    """
    return any(
        same_days(days, told)
        for date in one.dates
        for told in date.readings(reference if reference is not None or date.needs_day else said_on)
    )


def names_only_days(one: Sentence, days: Interval, reference: int | None) -> bool:
    """Whether a sentence names these days and hardly any others."""
    named = [told for date in one.dates for told in date.readings(reference)]
    return any(same_days(days, told) and told.days <= days.days + _SLACK_DAYS for told in named)


def same_days(wanted: Interval, told: Interval | None) -> bool:
    """Whether a named date is the wanted one, or lies within the wanted one."""
    if told is None or told.days > _WIDE * wanted.days + _SLACK_DAYS:
        return False
    return wanted.overlap(told) * 2 >= min(told.days, wanted.days)


def _is_digits(stem: str) -> bool:
    return stem[0].isdigit()


class PreparedContent:
    """A content prepared for fast comparison with many sentences.

    What a sentence has of the content is encoded as bits of an integer: one bit for any date, one for each number, and
    three for each word (same word, same sense, near sense, where a better match includes the bits of the worse ones).
    The bits of several sentences together are joined by "or".

    Attributes:
        rows: for each word, the matching stems with their likeness.
        telling: all matching stems.

    New stems of ``alike`` count after the next ``look_up``.
    """

    def __init__(self, wanted: Content, alike: Alike, *, is_day_enough: bool = False) -> None:
        """Look up the words.

        Args:
            wanted: the content.
            alike: knows the stems of the sentences to compare.
            is_day_enough: whether a sentence may have a date by the day on which it was said, without naming a date.
        """
        self._is_day_enough = is_day_enough
        self._wanted = wanted
        self._alike = alike
        self._weight = wanted.weight
        self._words = list(wanted.words.items())
        self._has_more = bool(wanted.numbers or wanted.dates)
        self._numbers = {value: 2 << place for place, value in enumerate(wanted.numbers)}
        self._first = len(wanted.numbers) + 1 if self._has_more else 0
        self._bits: dict[str, int] = {}
        self.rows = {word: alike.to(word) for word in wanted.words}
        self.telling = self._bits.keys()
        self._looked_up = [0] * len(self.rows)
        self._known = -1
        self._carriers: dict[float, frozenset[str]] = {}
        self._worth: dict[int, float] = {}
        self._said: dict[int, float] = {}
        self._named: dict[int, Sequence[str]] = {}
        self.look_up()

    def look_up(self) -> None:
        """Look up stems that were added to ``alike`` since the last call."""
        if self._known == self._alike.size:
            return
        self._known = self._alike.size
        self._carriers.clear()
        known = self._bits
        for place, row in enumerate(self.rows.values()):
            looked_up = self._looked_up[place]
            if looked_up == len(row):
                continue
            self._looked_up[place] = len(row)
            bits = {level: some << 3 * place + self._first for level, some in _LEVELS.items()}
            levels = map(bits.__getitem__, islice(row.values(), looked_up, None))
            of_word = dict(zip(islice(row, looked_up, None), levels, strict=True))
            for stem in known.keys() & of_word.keys():
                of_word[stem] |= known[stem]
            known.update(of_word)

    def bits(self, one: Sentence) -> int:
        """The bits of a sentence."""
        found = 0
        known = self._bits
        for stem in one.stems:
            if stem in known:
                found |= known[stem]
        if self._has_more:
            found |= bool(self._wanted.dates and (one.dates or self._is_day_enough))
            for value in one.numbers:
                found |= self._numbers.get(value, 0)
        return found

    def may_have(self, share: float) -> Callable[[Sentence], bool]:
        """Returns a cheap test: a sentence that fails it has less than this share (0 to 1, rounded to six places).

        The lightest words, which together weigh less than the share, are ignored, because many sentences have them. A
        sentence with none of the other words has less than the share. The test ignores stems of later look-ups.
        """
        carriers = self._carriers.get(share)
        if carriers is None:
            words, left_out = set(self.rows), 0.0
            for word, weight in sorted(self._words, key=lambda item: item[1]):
                left_out += SURELY * weight
                if left_out >= (share - _ROUNDED) * self._weight:
                    break
                words.remove(word)
            carriers = self._carriers[share] = frozenset(stem for word in words for stem in self.rows[word])
        if self._has_more:
            return lambda one: bool(one.numbers or one.dates) or not carriers.isdisjoint(one.stems)
        return lambda one: not carriers.isdisjoint(one.stems)

    def worth(self, bits: int) -> float:
        """An upper bound of the weight of sentences with these bits, counting all dates."""
        worth = self._worth.get(bits)
        if worth is None:
            worth = self._of_words(bits) + (DATE_WEIGHT * len(self._wanted.dates) if self._has_more and bits & 1 else 0)
            worth += NUMBER_WEIGHT * sum(bool(bits & value) for value in self._numbers.values())
            self._worth[bits] = worth
        return worth

    def most(self, one: Sentence) -> float:
        """An upper bound of ``share``."""
        return SURELY * self.worth(self.bits(one)) / self._weight if self._weight else 0.0

    def share(self, place: Placed) -> float:
        """The share of the content that a sentence has, 0 to 1, as by ``share_found``."""
        bits = self.bits(place.sentence)
        if not bits or not self._weight:
            return 0.0
        if not self._has_more:
            return self.worth(bits) / self._weight
        got = self._said.get(bits)
        if got is None:
            got = self._of_words(bits) + NUMBER_WEIGHT * sum(bool(bits & value) for value in self._numbers.values())
            self._said[bits] = got
        if bits & 1:
            wanted, one = self._wanted, place.sentence
            got += DATE_WEIGHT * sum(names_days(one, days, place.reference) for days in wanted.dates)
        return got / self._weight

    def told_by(self, stems: Iterable[str]) -> Sequence[str]:
        """The words of the content that some stems match, in the order of the content."""
        bits = 0
        for stem in stems:
            bits |= self._bits[stem]
        words = self._named.get(bits)
        if words is None:
            words = [word for place, (word, _) in enumerate(self._words) if bits >> 3 * place + self._first & 1]
            self._named[bits] = words
        return words

    def _of_words(self, bits: int) -> float:
        bits >>= self._first
        return sum(weight * _CREDIT_OF[bits >> 3 * place & 7] for place, (_, weight) in enumerate(self._words))
