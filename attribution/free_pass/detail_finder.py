"""Scores how surely a detail is in a text, by words, numbers and dates."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from operator import or_

from attribution.needed.content import (
    CREDIT,
    DATE_WEIGHT,
    SURELY,
    Content,
    PreparedContent,
    names_days_as_written,
    same_days,
)
from attribution.needed.presence import ABSENT, LARGE, Detail, Presence, literal
from attribution.needed.swapped_numbers import swaps
from attribution.text.intervals import Interval
from attribution.text.lexicon import Alike
from attribution.text.segments import Placed, Sentence, passage

_TOGETHER = 0.97
"""Factor for the score of two neighbouring sentences that have the detail only together."""
_AROUND = 500
_MOST_PARTS = 400
_FAINT = 0.25
"""Scores below this become 0."""
_GIST = 0.7
"""The share of the sentence that is enough if no gold answer says which words are needed."""
_NEED = 0.15
"""The share of the anchors that a sentence needs if it has the core's own words; otherwise twice as much."""
_OWN = 1.3
"""Literal words of the core with at least this weight need few anchors."""
_SHARED = 0.4
_PRECISION = 0.6
"""Alternatively, this share of the words beside the core must be anchors."""


@dataclass(frozen=True, slots=True)
class _CoreMatch:
    """How much of a detail's core some sentences have.

    Attributes:
        cover: the share of the core, 0 to 1.
        matched: for each found word of the core, the word in the sentences.
        places: the sentences.
    """

    cover: float
    matched: Mapping[str, str]
    places: Sequence[Placed]


@dataclass(frozen=True, slots=True)
class RoughMatch:
    """A cheap upper bound of how much of a detail a text has.

    Attributes:
        said: the detail's sentence, if the text has it literally; then all other attributes are empty.
        places: the sentences of the text.
        own: the indexes of the sentences that count: with content, and not obviously from another message.
        bits: for each sentence with a part of the core, an encoding of the part; see ``PreparedContent``.
        most: an upper bound of the text's score.
    """

    said: str
    places: Sequence[Placed]
    own: Sequence[int]
    bits: Mapping[int, int]
    most: float


class DetailFinder:
    """Looks for one detail in many texts. Results for words and sentences are cached."""

    def __init__(
        self,
        detail: Detail,
        is_foreign: Callable[[Sentence], bool],
        alike: Alike | None = None,
        not_quoted: Callable[[str, Sequence[Placed]], Sequence[int]] = lambda _, places: range(len(places)),
        *,
        keeps_dates: bool = False,
    ) -> None:
        """Starts without texts.

        Args:
            detail: to look for.
            is_foreign: whether a sentence comes from another message. Such sentences don't count.
            alike: learns the words of the texts; finders may share one.
            not_quoted: the indexes of a text's sentences that have content and do not obviously come from another
                message.
            keeps_dates: whether the memory keeps the dates of messages beside the texts; then a relative date in a text
                without a date of its own counts from the day of the message.
        """
        self._detail = detail
        self._said_on = detail.reference if keeps_dates else None
        self._is_foreign = is_foreign
        self._not_quoted = not_quoted
        self._weight = detail.core.weight
        self._numbers = detail.core.numbers if detail.literal else frozenset[float]()
        self._total = sum(detail.anchors.values())
        self._alike = alike or Alike()
        self._sought = PreparedContent(detail.core, self._alike, is_day_enough=detail.is_implied)
        self._around: PreparedContent | None = None
        self._least = (self._weight or 1.0) * (1.0 if detail.literal else _GIST)
        self._telling_core: dict[str, Sequence[str]] = {}
        self._telling_around: dict[str, Sequence[str]] = {}
        self._foreign: dict[str, bool] = {}
        self._scores: dict[tuple[str, int | None, bool], float] = {}
        self._pairs: dict[tuple[str, str, int | None, int | None, bool], float] = {}

    def presence(self, text: str, *, sole: bool = False) -> Presence:
        """How surely the detail is in a text.

        Args:
            text: a value.
            sole: whether the text was made from the detail's message only: then the text can't be about anything else.
        """
        (look,) = self.look_at([text], [sole])
        return self.in_text(look, sole=sole)

    def look_at(self, texts: Sequence[str], soles: Sequence[bool] = ()) -> list[RoughMatch]:
        """Cheap upper bounds of how much of the detail each text has.

        Args:
            texts: values.
            soles: for each text, whether it was made from the detail's message only; none was if empty.
        """
        said = [literal(self._detail, text) for text in texts]
        # All words are learned first, because look_up only finds words that are known.
        alone = soles or [False] * len(texts)
        read = [
            ([], []) if one else self._read(text, sole=sole) for one, text, sole in zip(said, texts, alone, strict=True)
        ]
        self._sought.look_up()
        looks = []
        for one, (places, own) in zip(said, read, strict=True):
            bits = {number: has for number in own if (has := self._sought.bits(places[number].sentence))}
            looks.append(RoughMatch(one, places, own, bits, math.inf if one else self._most(bits.values())))
        return looks

    def in_text(self, look: RoughMatch, *, sole: bool = False, least: float = 0.0) -> Presence:
        """How surely the detail is in a text.

        Args:
            look: from the last call of ``look_at``.
            sole: see ``presence``.
            least: scores below this may be returned lower than they are.
        """
        if look.said:
            return Presence(1.0, look.said)
        places, bits = look.places, look.bits
        if look.most < max(least, _FAINT):
            return ABSENT
        best, place = ABSENT, len(places)
        # No sentence has more of the detail than of its core, so that most sentences need no close look.
        for most, number in self._ranked(bits, max(least, _FAINT)):
            if most < best.score:
                break
            score = self._single(places[number], sole)
            if score > best.score or (score == best.score > 0 and number < place):
                best, place = Presence(score, places[number].sentence.text), number
        if look.most * _TOGETHER < max(least, _FAINT, best.score):
            return best
        place = -1
        own = set(look.own)
        pairs = {first for number in bits for first in (number - 1, number) if first in own and first + 1 in own}
        both = {first: bits.get(first, 0) | bits.get(first + 1, 0) for first in pairs}
        for most, first in self._ranked(both, max(least, _FAINT, best.score) / _TOGETHER):
            if _TOGETHER * most < best.score:
                break
            together = self._pair(places[first], places[first + 1], sole, max(best.score, least))
            if together > best.score or (together == best.score and first < place):
                best, place = Presence(together, places[first if first in bits else first + 1].sentence.text), first
        return best

    def _most(self, bits: Iterable[int]) -> float:
        """An upper bound of the share of the core that these sentences have together."""
        return SURELY * self._sought.worth(reduce(or_, bits, 0)) / self._least

    def _ranked(self, bits: Mapping[int, int], least: float) -> list[tuple[float, int]]:
        """Upper bounds of the share of the core by index, the highest first, without those below ``least``."""
        worth = least * self._least / SURELY
        found = [(has, number) for number, bits_of in bits.items() if (has := self._sought.worth(bits_of)) >= worth]
        return [(SURELY * has / self._least, number) for has, number in sorted(found, key=lambda o: (-o[0], o[1]))]

    def _read(self, text: str, *, sole: bool) -> tuple[Sequence[Placed], Sequence[int]]:
        """The sentences of a text, and the indexes of the sentences that count. Learns the text's words."""
        read = text if len(text) <= LARGE else self._excerpt(text)
        places = passage(read)
        self._alike.learn(read, (placed.sentence.stems for placed in places))
        if sole:
            return places, [number for number, one in enumerate(places) if one.sentence.has_content]
        return places, self._not_quoted(read, places)

    def _excerpt(self, text: str) -> str:
        """The parts of a very large text around the core's own words, numbers and years."""
        needles = _needles(self._detail.core)
        if needles is None:
            return ""
        parts: list[str] = []
        end = 0
        for match in needles.finditer(text):
            if match.start() < end:
                continue
            end = match.end() + _AROUND
            parts.append(text[max(0, match.start() - _AROUND) : end])
            if len(parts) == _MOST_PARTS:
                break
        return "\n".join(parts)

    def _single(self, placed: Placed, sole: bool) -> float:
        key = placed.sentence.text, placed.reference, sole
        if key not in self._scores:
            score = self._score(self._told([placed]), sole)
            self._scores[key] = 0.0 if score < _FAINT or self._excluded(placed, sole=sole) else score
        return self._scores[key]

    def _pair(self, first: Placed, second: Placed, sole: bool, best: float) -> float:
        """The joint score of two sentences; 0 if below ``best``."""
        if self._foreign.get(first.sentence.text) or self._foreign.get(second.sentence.text):
            return 0.0
        key = first.sentence.text, second.sentence.text, first.reference, second.reference, sole
        if key not in self._pairs:
            told = self._told([first, second])
            if _TOGETHER * told.cover < best:
                return 0.0
            score = _TOGETHER * self._score(told, sole)
            faint = score < _FAINT or self._excluded(first, sole=sole) or self._excluded(second, sole=sole)
            self._pairs[key] = 0.0 if faint else score
        return self._pairs[key]

    def _excluded(self, placed: Placed, *, sole: bool) -> bool:
        """Whether a sentence comes from another message, or gives the detail's number to another thing.

        A text that was made from the detail's message only, and has its numbers, quotes no other message, however much
        it is like one.
        """
        text = placed.sentence.text
        if len(placed.sentence.numbers) > 1 and swaps(self._detail.sentence.text, text, self._numbers):
            return True
        if sole and self._numbers and self._numbers <= placed.sentence.numbers:
            return False
        if text not in self._foreign:
            self._foreign[text] = self._is_foreign(placed.sentence)
        return self._foreign[text]

    def _score(self, told: _CoreMatch, sole: bool) -> float:
        """The share of the detail that some sentences have."""
        if told.cover < _FAINT or sole:  # the surroundings can only lower it
            return told.cover
        detail, taken = self._detail, set(told.matched.values())
        self._around = self._around or PreparedContent(Content(detail.anchors, frozenset(), ()), self._alike)
        self._around.look_up()
        left = [w for w in _telling(self._around, told.places, self._telling_around) if w not in taken]
        shared = sum(detail.anchors[word] for word in _matches(self._around, left))
        # Rare words of the core are proof alone; a date, a number or a similar word may belong to anything.
        core = detail.core.words
        own = sum(sorted((core[word] for word, other in told.matched.items() if word == other), reverse=True)[:3])
        recall = (shared / self._total if self._total else 1.0) / (_NEED if own >= _OWN else 2 * _NEED)
        if recall >= 1.0 or shared < _SHARED:
            return told.cover * min(1.0, recall)
        words = dict.fromkeys(stem for placed in told.places for stem in placed.sentence.stems)
        precision = shared / sum(detail.rarity(word) for word in words if word not in taken)
        return told.cover * min(1.0, max(recall, precision / _PRECISION))

    def _is_said_on(self, placed: Placed, days: Interval) -> bool:
        """Whether a sentence that names no date was said on these days."""
        day = placed.reference or self._said_on
        return day is not None and not placed.sentence.dates and same_days(days, Interval(day, day))

    def _told(self, places: Sequence[Placed]) -> _CoreMatch:
        """The share of the core that some sentences have together."""
        detail = self._detail
        core = detail.core
        matched = _matches(self._sought, _telling(self._sought, places, self._telling_core))
        got = sum(core.words[word] * CREDIT[self._sought.rows[word][other]] for word, other in matched.items())
        got += sum(any(value in placed.sentence.numbers for placed in places) for value in core.numbers)
        got += DATE_WEIGHT * sum(
            any(names_days_as_written(p.sentence, days, p.reference or self._said_on, detail.reference) for p in places)
            or (detail.is_implied and any(self._is_said_on(p, days) for p in places))
            for days in core.dates
        )
        cover = got / self._weight if self._weight else 0.0
        return _CoreMatch(cover if detail.literal else min(1.0, cover / _GIST), matched, places)


def _telling(sought: PreparedContent, places: Sequence[Placed], kept: dict[str, Sequence[str]]) -> list[str]:
    """The words of some sentences that match any needed word, in order.

    Args:
        sought: the needed content.
        places: the sentences.
        kept: cache of results by sentence.
    """
    found: dict[str, None] = {}
    for placed in places:
        words = kept.get(placed.sentence.text)
        if words is None:
            telling = sought.telling
            words = kept[placed.sentence.text] = [word for word in placed.sentence.stems if word in telling]
        found.update(dict.fromkeys(words))
    return list(found)


def _matches(sought: PreparedContent, words: Sequence[str]) -> dict[str, str]:
    """For each needed word, the best match (``attribution.needed.content.matches``); each is used once."""
    wanted = sought.told_by(words)
    same = {word: word for word in wanted if word in words}
    left = [word for word in words if word not in same]
    for word in wanted if left else ():
        if word in same:
            continue
        row, best, place = sought.rows[word], 0.0, -1
        for number, other in enumerate(left):
            if row.get(other, 0.0) > best:
                best, place = row[other], number
        if best:
            same[word] = left.pop(place)
    return same


def _needles(core: Content) -> re.Pattern[str] | None:
    """A pattern that every text with the core's own words matches; None for an empty core."""
    words = [word.removesuffix("i") for word in core.words]  # happi: happy
    words += [f"{value:g}" for value in core.numbers]
    words += [str(date.fromordinal(days.first).year) for days in core.dates]
    return re.compile("|".join(map(re.escape, sorted(words))), re.IGNORECASE) if words else None
