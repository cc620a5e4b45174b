"""Bars of shares, with their intervals, as places in a drawing. The template draws them; nothing is computed there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.report import words
from attribution.report.model import Share

MOST_BARS = 15
WIDTH = 800
_ROW = 26
_LABEL = 300
_NUMBERS = 130
_LABEL_CHARACTERS = 36


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar; all places are in units of the drawing.

    Attributes:
        x: where bars start; labels end a little before.
        y: the upper edge of its row.
        low, high: ends of the interval.
        end: where its numbers stand.
    """

    label: str
    numbers: str
    x: int
    y: int
    width: float
    low: float
    high: float
    end: int


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars below each other.

    Attributes:
        description: the same in words.
        hidden: shares for which there was no room.
    """

    width: int
    height: int
    bars: list[Bar]
    description: str
    hidden: int


def chart(parts: Sequence[Share]) -> Chart:
    """A chart of the first shares."""
    shown = parts[:MOST_BARS]
    most = max((part.high for part in shown), default=0.0) or 1.0
    scale = (WIDTH - _LABEL - _NUMBERS) / most
    bars = [
        Bar(
            label=words.middle(part.label, _LABEL_CHARACTERS),
            numbers=f"{part.count:,} ({words.percent(part.rate)})",
            x=_LABEL,
            y=place * _ROW,
            width=round(part.rate * scale, 1),
            low=round(_LABEL + part.low * scale, 1),
            high=round(_LABEL + part.high * scale, 1),
            end=WIDTH - _NUMBERS + 10,
        )
        for place, part in enumerate(shown)
    ]
    said = "; ".join(f"{part.label}: {part.count:,} ({words.percent(part.rate)})" for part in shown)
    return Chart(WIDTH, len(bars) * _ROW, bars, said, len(parts) - len(shown))
