"""Texts cut into sentences, each with its words, numbers and dates. Equal sentences are looked at once."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from attribution.text.common import common_start
from attribution.text.dates import Mention, mentions
from attribution.text.numbers import number
from attribution.text.tokens import carries, stem, words

_BREAK = re.compile(
    r"""[\\\n.!?;。！？؟"'{\[]                        # each begins with one of these: so it is found quickly
      (?: (?<=\\)n | (?<=\n)                        # lines, also escaped ones
        | (?<=[.!?;])(?!\\n|\n)["')\]]*(?:\s+|$)    # ends of sentences
        | (?<=[。！？؟])
        | (?<=["'])\s*[,:\]}]\s*                    # strings of JSON and of Python
        | (?<=[{\[])\s*["']
      )
    """,
    re.VERBOSE,
)
_MARKS = ".!?;"
"""Of the first characters of a break, those that belong to the sentence before it."""
_LONGEST = 2_000
"""Characters of a sentence; what has no end goes on in the next one."""
_KEPT = 200_000
"""Texts of up to so many characters are kept as sentences, for they may be asked for again."""
_LARGE_KEPT = 6_000_000
"""Characters of larger texts that are kept as sentences, at most, besides the last one."""
_GOES_ON = " \t\r\n\f\v\\\"'.!?;,:()[]{}"
"""What may belong to the end of a sentence, of which there may be any number of characters."""
_STAMP_WORDS = 6
"""A sentence with a timestamp and fewer words than this is a line of metadata."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """What one sentence says.

    Attributes:
        text: as it stands in the value.
        stems: of the words that carry something, in order, without those of absolute dates.
        numbers: numbers that are no part of an absolute date.
        dates: dates but for timestamps.
        stamp: day of its first timestamp, as an ordinal.
    """

    text: str
    stems: tuple[str, ...]
    numbers: frozenset[float]
    dates: tuple[Mention, ...]
    stamp: int | None

    @property
    def is_metadata(self) -> bool:
        """Whether it is little more than a timestamp."""
        return self.stamp is not None and len(self.stems) < _STAMP_WORDS


class Placed(NamedTuple):
    """A sentence at its place in a text, with the day that it was said on (an ordinal) where the text tells it."""

    start: int
    sentence: Sentence
    reference: int | None


@lru_cache(maxsize=50_000)
def sentence(text: str) -> Sentence:
    """Look at one sentence."""
    dates = mentions(text)
    taken = [(date.start, date.end) for date in dates if date.relative is None or date.is_stamp]
    stems: list[str] = []
    numbers: set[float] = set()
    for start, word in words(text):
        if taken and any(first <= start < last for first, last in taken):
            continue
        said, value = _read_word(word)
        if value is not None:
            numbers.add(value)
        elif said:
            stems.append(said)
    stamps = [date.interval.first for date in dates if date.is_stamp and date.interval is not None]
    told = tuple(date for date in dates if not date.is_stamp)
    return Sentence(text, tuple(stems), frozenset(numbers), told, stamps[0] if stamps else None)


@lru_cache(maxsize=100_000)
def _read_word(word: str) -> tuple[str, float | None]:
    """The stem of a word in lower case, empty where it carries nothing, and its value where it is a number."""
    return stem(word) if carries(word) else "", number(word)


def cut(text: str, start: int = 0) -> list[tuple[int, str]]:
    """The sentences of a text with their places, from where one starts."""
    found = []
    for match in _BREAK.finditer(text, start):
        end = match.start()
        if text[end] in _MARKS:
            end += 1
        if end > start:
            found.append((start, text[start:end]))
        start = match.end()
    if start < len(text):
        found.append((start, text[start:]))
    return [
        (place + part, piece[part : part + _LONGEST])
        for place, piece in found
        for part in range(0, len(piece), _LONGEST)
        if not piece[part : part + _LONGEST].isspace()
    ]


def passage(text: str, said_on: int | None = None) -> Sequence[Placed]:
    """The sentences of a text, each with the day that it was said on.

    A timestamp speaks for the sentences before it, back to the timestamp before; where a text begins with one, for
    those after it.

    Args:
        text: a value.
        said_on: the day of a text that has no timestamp.
    """
    return _kept(text, said_on) if len(text) <= _KEPT else _grown(text, said_on)


@lru_cache(maxsize=3_000)
def _kept(text: str, said_on: int | None) -> Sequence[Placed]:
    return _placed([(place, sentence(piece)) for place, piece in cut(text)], said_on)


class _Read(NamedTuple):
    """A large text that was read."""

    text: str
    said_on: int | None
    places: list[Placed]


_read: tuple[_Read, ...] = ()
"""The large texts that were read last."""


def _grown(text: str, said_on: int | None) -> Sequence[Placed]:
    """The same of a large text, of which only that is read which it has not in common with one that was read before.

    A buffer that grows has a version for each message, and is told whole in each prompt.
    """
    global _read  # noqa: PLW0603 (replaced as a whole, so that threads may share it)
    base, common = _Read("", None, []), 0
    for one in _read:
        if one.text == text and one.said_on == said_on:
            _read = (one, *(other for other in _read if other is not one))
            return one.places
        length = common_start(text, one.text)
        base, common = (one, length) if length > common else (base, common)
    # What ends a sentence is told by what comes after it.
    common = len(text[:common].rstrip().rstrip(_GOES_ON)) - 1
    same = base.places[: max(0, bisect_left(base.places, common, key=lambda one: one.start) - 1)]
    rest = cut(text, base.places[len(same)].start if same else 0)
    pieces = [*((one.start, one.sentence) for one in same), *((place, sentence(piece)) for place, piece in rest)]
    found = _placed(pieces, said_on, same)
    sizes = accumulate(len(one.text) for one in _read)
    _read = (_Read(text, said_on, found), *(one for one, size in zip(_read, sizes, strict=True) if size <= _LARGE_KEPT))
    return found


def _placed(pieces: Sequence[tuple[int, Sentence]], said_on: int | None, before: Sequence[Placed] = ()) -> list[Placed]:
    """Sentences at their places, each with the day that it was said on; the first ones as they were placed before."""
    days = _days([one for _, one in pieces], said_on)
    same = [
        one if one.reference == day else one._replace(reference=day) for one, day in zip(before, days, strict=False)
    ]
    rest = zip(pieces[len(same) :], days[len(same) :], strict=True)
    return same + [Placed(place, one, day) for (place, one), day in rest]


def _days(sentences: Sequence[Sentence], said_on: int | None) -> Sequence[int | None]:
    stamps = [one.stamp for one in sentences]
    known = [stamp for stamp in stamps if stamp is not None]
    if not known:
        return [said_on] * len(stamps)
    first_stamp = next(number for number, stamp in enumerate(stamps) if stamp is not None)
    leads = not any(one.stems for one in sentences[:first_stamp])
    return _carried(stamps, known[0]) if leads else _carried(stamps[::-1], known[-1])[::-1]


def _carried(stamps: Sequence[int | None], before: int) -> list[int | None]:
    carried: list[int | None] = []
    day = before
    for stamp in stamps:
        day = day if stamp is None else stamp
        carried.append(day)
    return carried
