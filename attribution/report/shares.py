"""A number of failures as a part of all that have a verdict, with its rate and the interval of that."""

from __future__ import annotations

from attribution.report.model import Share
from attribution.statistics.intervals import wilson


def share(key: str, label: str, count: int, total: int) -> Share:
    """A part of the failures that have a verdict."""
    interval = wilson(count, total)
    rate = count / total if total else 0.0
    return Share(key=key, label=label, count=count, total=total, rate=rate, low=interval.low, high=interval.high)
