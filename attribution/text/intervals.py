"""Intervals of days: of a day, a month or a season."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date

SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 2)}
"""The first and last month of each season."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Days from ``first`` to ``last``, both included, as ordinals of ``date``."""

    first: int
    last: int

    @property
    def days(self) -> int:
        """The number of days."""
        return self.last - self.first + 1

    def overlap(self, other: Interval) -> int:
        """The number of days that both intervals have."""
        return max(0, min(self.last, other.last) - max(self.first, other.first) + 1)


def day_of(year: int, month: int, day: int) -> Interval:
    """The interval of one day. Raises ``ValueError`` for a day that no calendar has."""
    ordinal = date(year, month, day).toordinal()
    return Interval(ordinal, ordinal)


def month_of(year: int, month: int) -> Interval:
    """The interval of a month, counted from 1. Raises ``ValueError`` for a month that no calendar has."""
    if not 1 <= month <= 12:
        raise ValueError
    return Interval(date(year, month, 1).toordinal(), date(year, month, monthrange(year, month)[1]).toordinal())


def season_of(name: str, year: int) -> Interval:
    """The interval of a season by its name; a winter ends in the next year."""
    first, last = SEASONS[name]
    end = month_of(year + (last < first), last)
    return Interval(date(year, first, 1).toordinal(), end.last)
