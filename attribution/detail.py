"""The needed detail: what must survive from the evidence to the answer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from attribution.text.dates import Interval
from attribution.text.lexicon import NEAR, SAME, Alike, best_likeness, likeness
from attribution.text.segments import Placed, Sentence, passage

DATE_WEIGHT = 2.0
"""A date weighs as much as some rare words: it is one thing, however many words it has."""
NUMBER_WEIGHT = 1.0
_WIDE = 3.0
"""A date is told where a text names days of which most are meant, and at most this many times as many."""
_SLACK_DAYS = 6
CREDIT = {1.0: 1.0, SAME: 0.85, NEAR: 0.65, 0.0: 0.0}
"""How much of a word is told by one of some likeness."""
_LEVELS = {NEAR: 0b001, SAME: 0b011, 1.0: 0b111}
_CREDIT_OF = {0: 0.0} | {bits: CREDIT[likeness] for likeness, bits in _LEVELS.items()}


class Rarity:
    """Weights of words by how few of a trace's messages have them: 0 (all) to about 1 (one of them)."""

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
    """What a short text says, weighted: words (by stem), numbers and dates."""

    words: Mapping[str, float]
    numbers: frozenset[float]
    dates: tuple[Interval, ...]

    @property
    def weight(self) -> float:
        """The sum of all weights."""
        return sum(self.words.values()) + NUMBER_WEIGHT * len(self.numbers) + DATE_WEIGHT * len(self.dates)

    def without(self, stems: Iterable[str], numbers: Iterable[float] = ()) -> Content:
        """What is left without some words; all of it where nothing would be left."""
        dropped = set(stems)
        words = {word: weight for word, weight in self.words.items() if word not in dropped}
        left = Content(words, self.numbers - frozenset(numbers), self.dates)
        return left if left.weight else self


def content(text: str, rarity: Rarity, reference: int | None = None) -> Content:
    """What a text says, with the day that relative dates are told from."""
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
    """The part of the wanted weight that a sentence has, 0 to 1."""
    total = wanted.weight
    if not total:
        return 0.0
    one = place.sentence
    got = sum(weight * credit_in(word, one) for word, weight in wanted.words.items())
    got += NUMBER_WEIGHT * len(wanted.numbers & one.numbers)
    got += DATE_WEIGHT * sum(tells(one, days, place.reference) for days in wanted.dates)
    return got / total


class Sought:
    """Some weighted words that are looked for in many sentences.

    What a sentence has of them is written as the bits of a number, three for each word: those of a word that is near
    are among those of one with the same sense, and these among those of the word itself. So what several sentences
    have together are the bits of any.
    """

    def __init__(self, words: Mapping[str, float], alike: Alike) -> None:
        """Looks the words up.

        Args:
            words: with their weights.
            alike: knows the stems of all sentences that will be asked about.
        """
        self._words = words
        self._bits: dict[str, int] = {}
        for number, word in enumerate(words):
            for stem, level in alike.to(word).items():
                self._bits[stem] = self._bits.get(stem, 0) | _LEVELS[level] << 3 * number
        self._stems = frozenset(self._bits)
        self._worth: dict[int, float] = {0: 0.0}
        self._named: dict[int, Sequence[str]] = {}

    def bits(self, stems: Iterable[str]) -> int:
        """What a sentence with these stems has of the words."""
        found = 0
        for stem in self._stems.intersection(stems):
            found |= self._bits[stem]
        return found

    def worth(self, bits: int) -> float:
        """The weight of what a sentence has, where each word counts as much as the most alike one."""
        worth = self._worth.get(bits)
        if worth is None:
            worth = self._worth[bits] = sum(
                weight * _CREDIT_OF[bits >> 3 * number & 7] for number, weight in enumerate(self._words.values())
            )
        return worth

    def words(self, bits: int) -> Sequence[str]:
        """The words of which a sentence has anything, in their order."""
        words = self._named.get(bits)
        if words is None:
            words = self._named[bits] = [word for place, word in enumerate(self._words) if bits >> 3 * place & 1]
        return words


def found_by(wanted: Content, sought: Sought, place: Placed) -> float:
    """What ``found`` says, with the wanted words looked up before: for many sentences."""
    total = wanted.weight
    if not total:
        return 0.0
    one = place.sentence
    got = sought.worth(sought.bits(one.stems))
    got += NUMBER_WEIGHT * len(wanted.numbers & one.numbers)
    got += DATE_WEIGHT * sum(tells(one, days, place.reference) for days in wanted.dates)
    return got / total


def credit_in(stem: str, one: Sentence) -> float:
    """How well a sentence has a word: 1 for the word itself, less for one that means nearly the same."""
    return CREDIT[best_likeness(stem, one.stems)]


def credit(wanted: str, word: str) -> float:
    """How much of a word another one tells: 1 for the word itself."""
    return CREDIT[likeness(wanted, word)]


def matches(wanted: Iterable[str], words: Sequence[str]) -> dict[str, str]:
    """Which words tell which of the wanted ones, the same word or one that means nearly the same; each only once."""
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
    """Whether a sentence names these days: none that are much wider."""
    return any(same_days(days, told.on(reference)) for told in one.dates)


def same_days(wanted: Interval, told: Interval | None) -> bool:
    """Whether a told date is the wanted one, or lies within it."""
    if told is None or told.days > _WIDE * wanted.days + _SLACK_DAYS:
        return False
    return wanted.overlap(told) * 2 >= min(told.days, wanted.days)


def _is_digits(stem: str) -> bool:
    return stem[0].isdigit()
