"""Failures over time, in intervals of equal length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from attribution.report.model import OverTime, Stretch

MOST_STRETCHES = 40
_MINUTE, _HOUR, _DAY, _WEEK = 60, 3600, 86_400, 604_800
_LENGTHS = (_MINUTE, 5 * _MINUTE, 15 * _MINUTE, _HOUR, 6 * _HOUR, _DAY, _WEEK, 4 * _WEEK, 52 * _WEEK)
_MONDAY = datetime(1970, 1, 5, tzinfo=UTC)
_FIRST = datetime.min.replace(tzinfo=UTC)


def over_time(moments: Iterable[datetime | None]) -> OverTime | None:
    """The number of failures in each interval, from the first failure to the last; None if no time is known.

    Intervals are as short as possible for at most ``MOST_STRETCHES`` intervals. Each begins with a minute, an hour, a
    day or a Monday in UTC.

    Args:
        moments: the times of the failures; None for an unknown time.
    """
    known: list[int] = []
    undated = 0
    for moment in moments:
        if moment is None:
            undated += 1
        else:
            known.append((moment - _MONDAY) // timedelta(seconds=1))
    if not known:
        return None
    length = next(length for length in _lengths() if max(known) // length - min(known) // length < MOST_STRETCHES)
    counts = Counter(seconds // length for seconds in known)
    stretches = [Stretch(_moment(place * length), counts[place]) for place in range(min(counts), max(counts) + 1)]
    return OverTime(seconds=length, stretches=stretches, undated=undated)


def _lengths() -> Iterator[int]:
    yield from _LENGTHS
    length = _LENGTHS[-1]
    while True:
        length *= 2
        yield length


def _moment(seconds: int) -> datetime:
    """The moment this many seconds after the first Monday of 1970, but not before the year 1."""
    least = (_FIRST - _MONDAY) // timedelta(seconds=1)
    return _MONDAY + timedelta(seconds=max(seconds, least))
