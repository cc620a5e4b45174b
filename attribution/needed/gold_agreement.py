"""Whether an answer has the content of the gold answer. Only proof counts: related words are not enough."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from attribution.needed.content import CREDIT, DATE_WEIGHT, NUMBER_WEIGHT, Content, same_days
from attribution.needed.question import polar, polarity
from attribution.text.dates import mentions
from attribution.text.intervals import Interval
from attribution.text.lexicon import best_likeness, is_common_word, is_rival_of_any, is_same_as_any
from attribution.text.numbers import number
from attribution.text.segments import passage
from attribution.text.tokens import tokens

_SOME_DAY = 738_000
"""A day (an ordinal) to compare relative dates by."""
_NOT = re.compile(
    r"""
      \b(?:not|no|never|none|neither|nor|without|cannot|nicht|nie|niemals|kein\w*|ohne|nunca|jamás|nadie|ning[uú]n\w*
        |tampoco|pas|jamais|aucun\w*|sans|değil|yok|не|нет|никогда|без|нельзя|لا|ليس\w*|لم|لن|بدون)\b
      | n['’]t\b | \bn['’](?=[aeiouyéèêh])
      | 不(?![过過仅僅但久同少断斷错錯止管妨]) | [没沒] | 未(?![来來]) | 无(?![论論]) | 無(?![論])
      | ない | ません | なかった | 없 | 않 | 못 | 안\s | 아니 | ไม่ | नही | बिना
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Negation in the languages whose dates and numbers are read, and in some more."""


_TIME = re.compile(
    r"(?<![\d:.])(?:(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?![\d:])\s*(?P<half>[ap]\.?m\b)?)"
    r"|(?<![\d:.])(?P<full>1[0-2]|[1-9])\s*(?P<clock>[ap]\.?m\b)",
    re.IGNORECASE,
)
"""A time of day, such as ``14:30``, ``2:30 pm`` or ``2 pm``."""
_FEWEST = 2
"""The number of proven words beside which related words count."""
_NO_NOUN = ("ly", "ed", "ing")
"""Endings of words that do not name a sort of thing."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well a text agrees with the wanted content.

    Attributes:
        recall: the share of the wanted content that the text has, 0 to 1.
        conflicts: whether the text names another day, number or member of a class, or denies the content.
        is_proven: whether the share counts only the same words, numbers and dates, and no related words.
    """

    recall: float
    conflicts: bool
    is_proven: bool = True


def agreement(wanted: Content, text: str, golds: Sequence[str] = (), asked: frozenset[str] = frozenset()) -> Agreement:
    """How well a text agrees with the wanted content. The text may leave out the year of a date.

    Args:
        wanted: the content of the gold answers beyond the question.
        text: the answer.
        golds: the gold answers, to compare yes, no and not.
        asked: stems of the question, which answers repeat.
    """
    right, said = polar(golds), polarity(text)
    if right is not None and said is not None:
        return Agreement(float(said is right), said is not right)
    reference = wanted.dates[0].first if wanted.dates else None
    sentences = [placed.sentence for placed in passage(text)]
    told: list[Interval] = []
    for one in sentences:
        # A relative date without its reference is no date.
        dated = [date for date in one.dates if not date.needs_day]
        told += [days for days in (date.on(reference) for date in dated) if days is not None]
    numbers = frozenset().union(*(one.numbers for one in sentences)) if sentences else frozenset()
    words = {stem for one in sentences for stem in one.stems}
    beside = tuple(sorted(words - asked - wanted.words.keys()))
    missing = [word for word in wanted.words if word not in words and not is_same_as_any(word, beside)]
    proven = [word for word in wanted.words if word not in missing]
    got = sum(wanted.words[word] for word in proven)
    # A poodle is no dog: related words, which may be narrower or broader, count only beside several proven words.
    near = sum(wanted.words[word] * CREDIT[best_likeness(word, beside)] for word in missing)
    near = min(near, got) if len(proven) >= _FEWEST else 0.0
    got += near
    same = [any(same_days(days, other) for other in told) for days in wanted.dates]
    got += DATE_WEIGHT * sum(same) + NUMBER_WEIGHT * len(wanted.numbers & numbers)
    conflicts = (
        bool(wanted.dates and told and not any(same))
        or bool(wanted.numbers and numbers and not wanted.numbers & numbers)
        or any(is_rival_of_any(word, beside) for word in missing)
        or bool(golds and all(map(denies, golds)) != denies(text))
        or _tells_another_relative_date(golds, text)
        or _tells_another_time(golds, text)
    )
    return Agreement(got / wanted.weight if wanted.weight else 0.0, conflicts, is_proven=not near)


def is_narrowed(wanted: Content, text: str, known: tuple[str, ...]) -> bool:
    """Whether a text puts a word of its own directly before the only wanted word, as ``cork`` before ``oak``.

    Only a common word of English has narrower terms of this form. Names and words of other languages have none.

    Args:
        wanted: the content of the gold answers beyond the question.
        text: the answer.
        known: stems of the question and of the evidence.
    """
    if len(wanted.words) != 1:
        return False
    said = tokens(text)
    return any(
        after.stem in wanted.words
        and is_common_word(after.stem)
        and before.carries
        and before.word.isalpha()
        and not before.word.endswith(_NO_NOUN)
        and number(before.word) is None
        and not text[after.start].isupper()  # a name stays the same name: "the bird Humboldt"
        and before.stem not in wanted.words
        and not best_likeness(before.stem, known)
        and not text[before.end : after.start].strip()
        for before, after in pairwise(said)
    )


def _tells_another_relative_date(golds: Sequence[str], text: str) -> bool:
    """Whether gold answers and text have relative dates (``a year ago``), and no two that are the same days."""
    wanted = [days for gold in golds for days in _relative_days(gold)]
    told = _relative_days(text)
    return bool(wanted and told) and not any(same_days(one, other) for one in wanted for other in told)


def _tells_another_time(golds: Sequence[str], text: str) -> bool:
    """Whether gold answers and text have times of day, and none in common."""
    wanted = {time for gold in golds for time in _times(gold)}
    told = set(_times(text))
    return bool(wanted and told) and wanted.isdisjoint(told)


def _times(text: str) -> list[int]:
    """The times of day of a text, in minutes after midnight."""
    found = []
    for match in _TIME.finditer(text):
        hour, minute, half = (
            int(match["hour"] or match["full"]),
            int(match["minute"] or 0),
            (match["half"] or match["clock"] or "")[:1],
        )
        if half.lower() in {"a", "p"}:
            hour = hour % 12 + 12 * (half.lower() == "p")
        found.append(60 * hour + minute)
    return found


def _relative_days(text: str) -> list[Interval]:
    """The days of the relative dates of a text, as said on some day."""
    found = (one.on(_SOME_DAY) for one in mentions(text) if one.needs_day)
    return [days for days in found if days is not None]


def denies(text: str) -> bool:
    """Whether a text denies something."""
    return bool(_NOT.search(text))
