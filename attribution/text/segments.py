"""Cuts texts into sentences, each with its words, numbers and dates. Equal sentences are analysed once."""

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
from attribution.text.number_words import joined, spelled
from attribution.text.numbers import number
from attribution.text.tokens import carries, stem, words

_BREAK = re.compile(
    r"""[\\\n.!?;。！？؟"'{\[]                        # each begins with one of these: so it is found quickly
      (?: (?<=\\)n | (?<=\n)                        # lines, also escaped ones
        | (?<=[.!?;])(?!\\n|\n)                      # ends of sentences, but not the dot of "3. Mai"
        (?!(?<=\d\.)\ +(?:Jan|Jän|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)\w*\.?\b)["')\]]*(?:\s+|$)
        | (?<=[。！？؟])
        | (?<=["'])\s*[,:\]}]\s*                    # strings of JSON and of Python
        | (?<=[{\[])\s*["']
      )
    """,
    re.VERBOSE,
)
_ORDINAL_DIGITS = 2
_COUNTED = frozenset(
    ("etage", "halbjahr", "jahrhundert", "klasse", "obergeschoss", "og", "quartal", "reihe", "semester", "stock", "ug")
)
"""German nouns after an ordinal; they begin with a capital letter, like a new sentence."""
_FIRST_WORD = re.compile(r"\w+")
_MARKS = ".!?;"
"""Marks that belong to the end of a sentence."""
_LONGEST = 2_000
"""The maximal length of a sentence, in characters; a longer one is cut."""
_KEPT = 200_000
"""Texts of at most this many characters are cached as sentences."""
_LARGE_KEPT = 6_000_000
"""The maximal number of characters of larger texts that are cached, besides the last text."""
_GOES_ON = " \t\r\n\f\v\\\"'.!?;,:()[]{}"
"""Characters that may follow the end of a sentence in any number."""
_NAME_WORDS = 3
"""The most words before a timestamp that heads its line, as ``Ann Lee (2026-03-01 09:00): Hello.``"""
_EDGE = re.compile(r"(?:\n[ \t]*)+|(?:\\n[ \t]*)+|\{")
"""Where a line, a paragraph, or an object of JSON begins."""
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")
"""A number that many languages write with a dot between its thousands: it may be 1500 as well as 1.5."""
_STAMP_WORDS = 6
"""A sentence with a timestamp and fewer words than this is metadata, unless the timestamp heads what is said."""
_FEWEST = 2
"""The minimal number of words after a timestamp that heads them."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words, numbers and dates of one sentence.

    Attributes:
        text: as written.
        stems: of the words that carry meaning, in order, without words of absolute dates.
        numbers: without numbers of absolute dates.
        dates: without timestamps.
        stamp: the day of the first timestamp, as an ordinal.
        lead: the number of stems before the first timestamp.
    """

    text: str
    stems: tuple[str, ...]
    numbers: frozenset[float]
    dates: tuple[Mention, ...]
    stamp: int | None
    lead: int = 0

    @property
    def has_content(self) -> bool:
        """Whether the sentence has a word that carries meaning, a number or a date."""
        return bool(self.stems or self.numbers or self.dates)

    @property
    def is_metadata(self) -> bool:
        """Whether the sentence is little more than a timestamp. A timestamp before some words is their date."""
        if self.stamp is None or len(self.stems) >= _STAMP_WORDS:
            return False
        return self.lead > _NAME_WORDS or len(self.stems) - self.lead < _FEWEST


class Placed(NamedTuple):
    """A sentence with its position in a text, and the day on which it was said (an ordinal; None if unknown)."""

    start: int
    sentence: Sentence
    reference: int | None


@lru_cache(maxsize=50_000)
def sentence(text: str) -> Sentence:
    """Analyse one sentence."""
    dates = mentions(text)
    taken = [(date.start, date.end) for date in dates if date.relative is None or date.is_stamp]
    stems: list[str] = []
    starts: list[int] = []
    numbers: set[float] = set()
    cut_out = words(text)
    plain = [word for _, word in cut_out]
    in_words = [*joined(plain), *spelled(plain)]
    numbers.update(value for _, _, value in in_words)
    read = {place for first, last, _ in in_words for place in range(first, last)}
    for place, (start, word) in enumerate(cut_out):
        if place in read or (taken and any(first <= start < last for first, last in taken)):
            continue
        said, value = _read_word(word)
        if _THOUSANDS.fullmatch(word):
            numbers.add(float(word.replace(".", "")))
        if value is not None:
            numbers.add(value)
        elif said:
            stems.append(said)
            starts.append(start)
    told = tuple(date for date in dates if not date.is_stamp)
    for date in dates:
        if date.is_stamp and date.interval is not None:
            lead = bisect_left(starts, date.start)
            return Sentence(text, tuple(stems), frozenset(numbers), told, date.interval.first, lead)
    return Sentence(text, tuple(stems), frozenset(numbers), told, None)


@lru_cache(maxsize=100_000)
def _read_word(word: str) -> tuple[str, float | None]:
    """The stem of a word in lower case, empty for a stop word; and the value of a number word."""
    return stem(word) if carries(word) else "", number(word)


def cut(text: str, start: int = 0) -> list[tuple[int, str]]:
    """The sentences of a text with their positions, from position ``start`` on."""
    found = []
    for match in _BREAK.finditer(text, start):
        end = match.start()
        if text[end] == "." and _is_ordinal(text, end, match.end()):
            continue
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


def _is_ordinal(text: str, dot: int, after: int) -> bool:
    """Whether the dot after a number of one or two digits makes an ordinal, as in "2. patro" and "im 2. Stock"."""
    first = dot
    while first > 0 and dot - first < _ORDINAL_DIGITS + 1 and text[first - 1].isdecimal():
        first -= 1
    if not 0 < dot - first <= _ORDINAL_DIGITS or text[dot + 1 : after].strip(" ") or after == dot + 1:
        return False
    following = _FIRST_WORD.match(text, after)
    return following is not None and (following.group()[0].islower() or following.group().lower() in _COUNTED)


def passage(text: str, said_on: int | None = None) -> Sequence[Placed]:
    """The sentences of a text, each with the day on which it was said.

    A timestamp dates the sentences before it, back to the previous timestamp. If the text begins with a timestamp, or
    most of its timestamps head their lines, each timestamp dates the sentences after it.

    Args:
        text: a value.
        said_on: the day of a text without timestamps.
    """
    return _kept(text, said_on) if len(text) <= _KEPT else _grown(text, said_on)


@lru_cache(maxsize=3_000)
def _kept(text: str, said_on: int | None) -> Sequence[Placed]:
    return _placed(text, [(place, sentence(piece)) for place, piece in cut(text)], said_on)


class _Read(NamedTuple):
    """The sentences of a large text."""

    text: str
    said_on: int | None
    places: list[Placed]


_read: tuple[_Read, ...] = ()
"""The large texts that were read last, newest first."""


def _grown(text: str, said_on: int | None) -> Sequence[Placed]:
    """Like ``passage`` for a large text: analyses only what differs from a large text that was read before.

    A growing buffer has a version for each message, and each prompt repeats the whole buffer.
    """
    global _read  # noqa: PLW0603 (replaced as a whole: threads may share it)
    base, common = _Read("", None, []), 0
    for one in _read:
        if one.text == text and one.said_on == said_on:
            _read = (one, *(other for other in _read if other is not one))
            return one.places
        length = common_start(text, one.text)
        base, common = (one, length) if length > common else (base, common)
    # The characters after a sentence decide where the sentence ends.
    common = len(text[:common].rstrip().rstrip(_GOES_ON)) - 1
    same = base.places[: max(0, bisect_left(base.places, common, key=lambda one: one.start) - 1)]
    rest = cut(text, base.places[len(same)].start if same else 0)
    pieces = [*((one.start, one.sentence) for one in same), *((place, sentence(piece)) for place, piece in rest)]
    found = _placed(text, pieces, said_on, same)
    sizes = accumulate(len(one.text) for one in _read)
    _read = (_Read(text, said_on, found), *(one for one, size in zip(_read, sizes, strict=True) if size <= _LARGE_KEPT))
    return found


def _placed(
    text: str, pieces: Sequence[tuple[int, Sentence]], said_on: int | None, before: Sequence[Placed] = ()
) -> list[Placed]:
    """Sentences with positions and days, appended to sentences that were placed before."""
    days = _days(text, pieces, said_on)
    same = [
        one if one.reference == day else one._replace(reference=day) for one, day in zip(before, days, strict=False)
    ]
    rest = zip(pieces[len(same) :], days[len(same) :], strict=True)
    return same + [Placed(place, one, day) for (place, one), day in rest]


def _days(text: str, pieces: Sequence[tuple[int, Sentence]], said_on: int | None) -> Sequence[int | None]:
    stamps = [one.stamp for _, one in pieces]
    known = [stamp for stamp in stamps if stamp is not None]
    if not known:
        return [said_on] * len(stamps)
    first_stamp = next(number for number, stamp in enumerate(stamps) if stamp is not None)
    leads = not any(one.stems for _, one in pieces[:first_stamp]) or 2 * _heads(text, pieces) > len(known)
    return _carried(stamps, known[0]) if leads else _carried(stamps[::-1], known[-1])[::-1]


def _heads(text: str, pieces: Sequence[tuple[int, Sentence]]) -> int:
    """The number of timestamps that head their line or JSON object, or the paragraph if the line has nothing else."""
    found = 0
    lines: list[tuple[bool, list[Sentence]]] = []
    start = 0
    for place, one in pieces:
        edges = _EDGE.findall(text, start, place)
        if edges or not lines:
            lines.append((any(edge.count("\n") + edge.count("\\n") > 1 for edge in edges), []))
        lines[-1][1].append(one)
        start = place
    for at, (is_paragraph, line) in enumerate(lines):
        before = after = 0
        waiting = False
        for one in line:
            if one.stamp is None:
                before, after = before + len(one.stems), after + len(one.stems)
                continue
            found += waiting and after > 0
            waiting, after = before + one.lead <= _NAME_WORDS, len(one.stems) - one.lead
            before += len(one.stems)
        goes_on = is_paragraph and at + 1 < len(lines) and not lines[at + 1][0]
        found += waiting and (after > 0 or goes_on)
    return found


def _carried(stamps: Sequence[int | None], before: int) -> list[int | None]:
    carried: list[int | None] = []
    day = before
    for stamp in stamps:
        day = day if stamp is None else stamp
        carried.append(day)
    return carried
