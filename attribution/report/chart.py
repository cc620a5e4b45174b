"""Charts as coordinates: shares with intervals, failures over time, and error types by operation.

Templates only draw the coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from attribution.report import words
from attribution.report.model import Harm, OperationErrors, OverTime, Share
from attribution.text.fit import middle
from attribution.verdicts.naming import plain
from schema.kinds import ErrorType

MOST_BARS = 15
WIDTH = 800
_ROW = 26
_LABEL = 300
_NUMBERS = 130
_LABEL_CHARACTERS = 36


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, in units of the drawing.

    Attributes:
        x: the left end of all bars; labels end a little before.
        y: the upper edge of the row.
        low, high: the ends of the interval.
        end: the position of the numbers.
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
        description: the chart in words.
        hidden: the number of shares without room.
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
            label=middle(part.label, _LABEL_CHARACTERS),
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


def harm_chart(found: Harm) -> Chart:
    """A chart of the scores of a ranking, without intervals."""
    most = max(one.score for one in found.worst) or 1.0
    scale = (WIDTH - _LABEL - _NUMBERS) / most
    bars = [
        Bar(
            label=middle(plain(one.label), _LABEL_CHARACTERS),
            numbers=f"{one.score:.3f}",
            x=_LABEL,
            y=place * _ROW,
            width=round(one.score * scale, 1),
            low=_LABEL,
            high=round(_LABEL + one.score * scale, 1),
            end=WIDTH - _NUMBERS + 10,
        )
        for place, one in enumerate(found.worst)
    ]
    said = "; ".join(f"{plain(one.label)}: {one.score:.3f}" for one in found.worst)
    return Chart(WIDTH, len(bars) * _ROW, bars, said, found.total - len(bars))


_HIGH = 150
_ABOVE = 18
_BELOW = 22
_TICKS = 5
_WIDEST = 60.0
_LETTER = 8.2
"""The width of a letter under the columns, in the widest of the usual fonts."""
_APART = 8
LEVELS = 5


@dataclass(frozen=True, slots=True)
class Column:
    """A column for one stretch of time, in units of the drawing.

    Attributes:
        x, y: the upper left corner.
        middle: the position of texts.
        number: the number of failures; empty for none.
        tick: the beginning of the stretch, for columns with a tick.
    """

    x: float
    y: float
    width: float
    height: float
    middle: float
    number: str
    tick: str


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns beside each other.

    Attributes:
        base: the lower end of the columns.
        description: the chart in words.
    """

    width: int
    height: int
    base: int
    columns: list[Column]
    description: str


def columns(found: OverTime) -> Columns:
    """Failures over time."""
    stretches = found.stretches
    most = max(stretch.failures for stretch in stretches)
    room = min(WIDTH / len(stretches), _WIDEST)
    longest = max(len(words.moment(stretch.start, found.seconds)) for stretch in stretches)
    # A tick may be wider than its column, so some columns have none.
    every = max(-(-len(stretches) // _TICKS), math.ceil((longest * _LETTER + _APART) / room))
    base = _ABOVE + _HIGH
    drawn = []
    for place, stretch in enumerate(stretches):
        height = round(stretch.failures / most * _HIGH, 1)
        tick = words.moment(stretch.start, found.seconds) if place % every == 0 else ""
        drawn.append(
            Column(
                x=round(place * room + room * 0.1, 1),
                y=round(base - height, 1),
                width=round(room * 0.8, 1),
                height=height,
                middle=round(place * room + room / 2, 1),
                number=f"{stretch.failures:,}" if stretch.failures else "",
                tick=tick,
            )
        )
    return Columns(WIDTH, base + _BELOW, base, drawn, words.over_time(found))


@dataclass(frozen=True, slots=True)
class Cell:
    """A number and the darkness of its background, from 0 (none) to ``LEVELS``."""

    number: str
    level: int


@dataclass(frozen=True, slots=True)
class HeatRow:
    """The numbers of errors of one operation by type, and their sum."""

    label: str
    cells: list[Cell]
    count: str


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Error types by operation.

    Attributes:
        kinds: the error types with failures, in their order.
        hidden: the number of operations without room.
    """

    kinds: list[str]
    rows: list[HeatRow]
    hidden: int


def heat_map(found: Sequence[OperationErrors]) -> HeatMap:
    """The error types of the first operations."""
    shown = found[:MOST_BARS]
    kinds = [kind.value for kind in ErrorType if any(kind.value in one.error_types for one in shown)]
    most = max((count for one in shown for count in one.error_types.values()), default=1)
    rows = [
        HeatRow(
            one.label,
            [_cell(one.error_types.get(kind, 0), most) for kind in kinds],
            f"{one.count:,}",
        )
        for one in shown
    ]
    return HeatMap(kinds, rows, len(found) - len(shown))


def _cell(count: int, most: int) -> Cell:
    return Cell(f"{count:,}" if count else "", -(-count * LEVELS // most))
