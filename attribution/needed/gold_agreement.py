"""Whether an answer has the content of the gold answer. Only proof counts: related words are not enough."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from attribution.needed.content import CREDIT, DATE_WEIGHT, NUMBER_WEIGHT, Content, same_days
from attribution.needed.question import polar, polarity
from attribution.text.dates import Interval, mentions
from attribution.text.lexicon import best_likeness, is_implied_by_any, is_rival_of_any, is_same_as_any
from attribution.text.segments import passage

_NARROWER = 0.65
"""Factor for an answer that has only narrower words than the wanted ones."""
_SOME_DAY = 738_000
"""A day (an ordinal) to compare relative dates by."""
_NOT = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|nicht|nie|niemals|kein\w*|ohne)\b|n['’]t\b|[不没沒未无]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well a text agrees with the wanted content.

    Attributes:
        recall: the share of the wanted content that the text has, 0 to 1.
        conflicts: whether the text names another day, number or member of a class, or denies the content.
    """

    recall: float
    conflicts: bool


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
        dated = [date for date in one.dates if date.relative is None]
        told += [days for days in (date.on(reference) for date in dated) if days is not None]
    numbers = frozenset().union(*(one.numbers for one in sentences)) if sentences else frozenset()
    words = {stem for one in sentences for stem in one.stems}
    beside = tuple(sorted(words - asked - wanted.words.keys()))
    missing = [word for word in wanted.words if word not in words and not is_same_as_any(word, beside)]
    got = sum(weight for word, weight in wanted.words.items() if word not in missing)
    # An example of a conclusion does not state the conclusion.
    drawn = right is None or said is not None
    narrower = {word for word in missing if drawn and is_implied_by_any(word, beside)}
    got += _NARROWER * sum(wanted.words[word] for word in narrower) if len(wanted.words) == len(narrower) else 0.0
    # Similar words count beside proven words, and never for more than the proven words.
    near = sum(wanted.words[word] * CREDIT[best_likeness(word, beside)] for word in missing)
    got += min(near, got)
    same = [any(same_days(days, other) for other in told) for days in wanted.dates]
    got += DATE_WEIGHT * sum(same) + NUMBER_WEIGHT * len(wanted.numbers & numbers)
    conflicts = (
        bool(wanted.dates and told and not any(same))
        or bool(wanted.numbers and numbers and not wanted.numbers & numbers)
        or any(is_rival_of_any(word, beside) for word in missing)
        or bool(golds and all(map(_denies, golds)) != _denies(text))
        or _tells_another_relative_date(golds, text)
    )
    # A word may be counted twice: by narrower words and by similar ones.
    return Agreement(min(1.0, got / wanted.weight) if wanted.weight else 0.0, conflicts)


def _tells_another_relative_date(golds: Sequence[str], text: str) -> bool:
    """Whether gold answers and text have relative dates (``a year ago``), and no two that are the same days."""
    wanted = [days for gold in golds for days in _relative_days(gold)]
    told = _relative_days(text)
    return bool(wanted and told) and not any(same_days(one, other) for one in wanted for other in told)


def _relative_days(text: str) -> list[Interval]:
    """The days of the relative dates of a text, as said on some day."""
    found = (one.on(_SOME_DAY) for one in mentions(text) if one.relative is not None)
    return [days for days in found if days is not None]


def _denies(text: str) -> bool:
    return bool(_NOT.search(text))
