"""Makes shares with rate and interval."""

from __future__ import annotations

from attribution.report.model import Share
from attribution.statistics.intervals import wilson


def share(key: str, label: str, count: int, total: int) -> Share:
    """A share of the failures with a verdict."""
    interval = wilson(count, total)
    rate = count / total if total else 0.0
    return Share(key=key, label=label, count=count, total=total, rate=rate, low=interval.low, high=interval.high)
