"""Whether an answer says what the gold answer says. Only proof counts: related words are not enough."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from attribution.needed.content import CREDIT, DATE_WEIGHT, NUMBER_WEIGHT, Content, same_days
from attribution.needed.question import polar, polarity
from attribution.text.dates import Interval
from attribution.text.lexicon import best_likeness, is_implied_by_any, is_rival_of_any, is_same_as_any
from attribution.text.segments import passage

_NARROWER = 0.65
"""What an answer counts all of whose words are narrower than those that are wanted."""
_NOT = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|nicht|nie|niemals|kein\w*|ohne)\b|n['’]t\b|[不没沒未无]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well a text says what was wanted.

    Attributes:
        recall: the part of the wanted content that it has, 0 to 1.
        conflicts: whether it names another day, number or member of a class where one is wanted, or denies it.
    """

    recall: float
    conflicts: bool


def agreement(wanted: Content, text: str, golds: Sequence[str] = (), asked: frozenset[str] = frozenset()) -> Agreement:
    """How well a text says what was wanted; the year of a day may be left out.

    Args:
        wanted: what the gold answers say beyond the question.
        text: the answer.
        golds: the gold answers, for yes, no and not.
        asked: stems of the question, which an answer repeats.
    """
    right, said = polar(golds), polarity(text)
    if right is not None and said is not None:
        return Agreement(float(said is right), said is not right)
    reference = wanted.dates[0].first if wanted.dates else None
    sentences = [placed.sentence for placed in passage(text)]
    told: list[Interval] = []
    for one in sentences:
        told += [days for days in (date.on(reference) for date in one.dates) if days is not None]
    numbers = frozenset().union(*(one.numbers for one in sentences)) if sentences else frozenset()
    words = {stem for one in sentences for stem in one.stems}
    beside = tuple(sorted(words - asked - wanted.words.keys()))
    missing = [word for word in wanted.words if word not in words and not is_same_as_any(word, beside)]
    got = sum(weight for word, weight in wanted.words.items() if word not in missing)
    # A conclusion is not drawn by who says something of its kind.
    drawn = right is None or said is not None
    narrower = {word for word in missing if drawn and is_implied_by_any(word, beside)}
    got += _NARROWER * sum(wanted.words[word] for word in narrower) if len(wanted.words) == len(narrower) else 0.0
    # Words that are only near in meaning count beside those that are proof, and never for more than these.
    near = sum(wanted.words[word] * CREDIT[best_likeness(word, beside)] for word in missing)
    got += min(near, got)
    same = [any(same_days(days, other) for other in told) for days in wanted.dates]
    got += DATE_WEIGHT * sum(same) + NUMBER_WEIGHT * len(wanted.numbers & numbers)
    conflicts = (
        bool(wanted.dates and told and not any(same))
        or bool(wanted.numbers and numbers and not wanted.numbers & numbers)
        or any(is_rival_of_any(word, beside) for word in missing)
        or bool(golds and all(map(_denies, golds)) != _denies(text))
    )
    # A word may be told both by narrower ones and by near ones.
    return Agreement(min(1.0, got / wanted.weight) if wanted.weight else 0.0, conflicts)


def _denies(text: str) -> bool:
    return bool(_NOT.search(text))
