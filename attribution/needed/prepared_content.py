"""A content prepared for fast comparison with many sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from attribution.needed.content import CREDIT, DATE_WEIGHT, NUMBER_WEIGHT, Content, tells
from attribution.text.lexicon import NEAR, SAME, Alike
from attribution.text.segments import Placed, Sentence

_LEVELS = {NEAR: 0b001, SAME: 0b011, 1.0: 0b111}
_CREDIT_OF = {0: 0.0} | {bits: CREDIT[likeness] for likeness, bits in _LEVELS.items()}
SURELY = 1.001
"""Factor that makes an upper bound safe against rounding of sums."""

_ROUNDED = 1e-6


class Sought:
    """A content prepared for fast comparison with many sentences.

    What a sentence has of the content is encoded as bits of an integer: one bit for any date, one for each number, and
    three for each word (same word, same sense, near sense, where a better match includes the bits of the worse ones).
    The bits of several sentences together are joined by "or".

    Attributes:
        rows: for each word, the matching stems with their likeness.
        telling: all matching stems.

    New stems of ``alike`` count after the next ``look_up``.
    """

    def __init__(self, wanted: Content, alike: Alike) -> None:
        """Look up the words.

        Args:
            wanted: the content.
            alike: knows the stems of the sentences to compare.
        """
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
            found |= bool(one.dates and self._wanted.dates)
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
        """The share of the content that a sentence has, 0 to 1, as by ``attribution.needed.content.share_found``."""
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
            got += DATE_WEIGHT * sum(tells(one, days, place.reference) for days in wanted.dates)
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
