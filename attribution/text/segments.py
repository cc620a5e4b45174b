"""Texts cut into sentences, each with its words, numbers and dates. Equal sentences are looked at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

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


def cut(text: str) -> list[tuple[int, str]]:
    """The sentences of a text with their places."""
    found = []
    start = 0
    for match in _BREAK.finditer(text):
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
        if not piece.isspace()
        for part in range(0, len(piece), _LONGEST)
    ]


def passage(text: str, said_on: int | None = None) -> Sequence[Placed]:
    """The sentences of a text, each with the day that it was said on.

    A timestamp speaks for the sentences before it, back to the timestamp before; where a text begins with one, for
    those after it.

    Args:
        text: a value.
        said_on: the day of a text that has no timestamp.
    """
    return _kept(text, said_on) if len(text) <= _KEPT else _read(text, said_on)


def _read(text: str, said_on: int | None) -> Sequence[Placed]:
    pieces = [(place, sentence(piece)) for place, piece in cut(text)]
    stamps = [one.stamp for _, one in pieces]
    known = [stamp for stamp in stamps if stamp is not None]
    if not known:
        return [Placed(place, one, said_on) for place, one in pieces]
    first_stamp = next(number for number, stamp in enumerate(stamps) if stamp is not None)
    leads = not any(one.stems for _, one in pieces[:first_stamp])
    references = _carried(stamps, known[0]) if leads else _carried(stamps[::-1], known[-1])[::-1]
    return [Placed(place, one, day) for (place, one), day in zip(pieces, references, strict=True)]


_kept = lru_cache(maxsize=3_000)(_read)


def _carried(stamps: Sequence[int | None], before: int) -> list[int | None]:
    carried: list[int | None] = []
    day = before
    for stamp in stamps:
        day = day if stamp is None else stamp
        carried.append(day)
    return carried
