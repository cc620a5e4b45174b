"""Days and months in digits, such as ``14/05`` and ``14.5.``, which may be fractions, too, and ``4/10/2025``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from attribution.text.intervals import Interval

_PAIR = re.compile(r"(?<![\d/.,:-])(\d{1,2})([/.])(\d{1,2})(?:\2((?:19|20)\d\d))?(?!\.\d)(?![\d/:-])")


def days_in_digits(text: str, wanted: Sequence[Interval]) -> list[Interval]:
    """The days that a text names in digits, where days are wanted: else such digits are no date.

    Languages differ on whether the day or the month comes first. The wanted day is meant if one of both readings is.

    Args:
        text: to read.
        wanted: the days in question, whose year counts where the text tells none.
    """
    days = [date.fromordinal(one.first) for one in wanted if one.first == one.last]
    found = []
    for match in _PAIR.finditer(text) if days else ():
        first, second = int(match[1]), int(match[3])
        year = int(match[4] or days[0].year)
        readings = [one for one in ((first, second), (second, first)) if _is_day(*one, year)]
        if readings:
            chosen = next((one for one in readings if one in {(day.day, day.month) for day in days}), readings[0])
            told = date(year, chosen[1], chosen[0]).toordinal()
            found.append(Interval(told, told))
    return found


def _is_day(day: int, month: int, year: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
