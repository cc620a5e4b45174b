"""Whether an answer says what the gold answer says."""

from __future__ import annotations

from dataclasses import dataclass

from attribution.detail import DATE_WEIGHT, NUMBER_WEIGHT, Content, credit_in, same_days
from attribution.text.dates import Interval
from attribution.text.segments import passage


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well a text says what was wanted.

    Attributes:
        recall: the part of the wanted content that it has, 0 to 1.
        conflicts: whether it names another day or number where one is wanted.
    """

    recall: float
    conflicts: bool


def agreement(wanted: Content, text: str) -> Agreement:
    """How well a text says what was wanted; the year of a day may be left out."""
    reference = wanted.dates[0].first if wanted.dates else None
    sentences = [placed.sentence for placed in passage(text)]
    told: list[Interval] = []
    for one in sentences:
        told += [days for days in (date.on(reference) for date in one.dates) if days is not None]
    numbers = frozenset().union(*(one.numbers for one in sentences)) if sentences else frozenset()
    got = sum(
        weight * max((credit_in(word, one) for one in sentences), default=0.0) for word, weight in wanted.words.items()
    )
    same = [any(same_days(days, other) for other in told) for days in wanted.dates]
    got += DATE_WEIGHT * sum(same) + NUMBER_WEIGHT * len(wanted.numbers & numbers)
    conflicts = bool(wanted.dates and told and not any(same)) or bool(
        wanted.numbers and numbers and not wanted.numbers & numbers
    )
    return Agreement(got / wanted.weight if wanted.weight else 0.0, conflicts)
