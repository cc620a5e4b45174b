"""A chart of a trace's operations over time, with a lane for each kind of operation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.web.pages import words
from schema.kinds import Status

WIDTH, LANE, LEFT = 960, 26, 128
"""Pixels: the chart's width, a lane's height, and the width of the names at the left."""

_BAD = (Status.ERROR, Status.CANCELLED)


@dataclass(frozen=True, slots=True)
class Bar:
    """The operations of one kind in one stretch of the trace.

    Attributes:
        height: the share of the lane's height, 0 to 1; the bar with most operations has 1.
        bad: number of operations that ended with an error or were cancelled.
        running: number of operations that have not ended.
    """

    x: float
    y: float
    width: float
    height: float
    start: int
    count: int
    bad: int
    running: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Lane:
    """The bars of one kind of operation."""

    kind: str
    y: float
    count: int
    bad: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Picture:
    """All lanes and bars.

    Attributes:
        description: the chart in words, for screen readers.
    """

    lanes: list[Lane]
    bars: list[Bar]
    height: int
    length: int
    bad: int
    running: int
    description: str


def picture(activity: Sequence[Mapping[str, Any]]) -> Picture | None:
    """The chart of a trace's activity as GraphQL returns it; None if the trace has no operations."""
    if not activity:
        return None
    cells: dict[tuple[str, int], list[Mapping[str, Any]]] = defaultdict(list)
    for one in activity:
        cells[one["kind"], one["start"]].append(one)
    kinds = list(dict.fromkeys(one["kind"] for one in activity))
    length = activity[0]["length"]
    end = max(one["start"] for one in activity) + length
    most = max(sum(one["count"] for one in some) for some in cells.values())
    step = (WIDTH - LEFT) / (end / length)
    bars = []
    for (kind, start), some in sorted(cells.items(), key=lambda cell: cell[0][1]):
        count = sum(one["count"] for one in some)
        bars.append(
            Bar(
                x=round(LEFT + start / length * step, 1),
                y=kinds.index(kind) * LANE,
                width=round(max(1.0, step - 1), 1),
                height=max(0.18, count / most),
                start=start,
                count=count,
                bad=_count(some, _BAD),
                running=_count(some, (Status.RUNNING,)),
                seconds=sum(one["seconds"] for one in some),
            )
        )
    lanes = []
    for place, kind in enumerate(kinds):
        some = [one for one in activity if one["kind"] == kind]
        seconds = sum(one["seconds"] for one in some)
        lanes.append(Lane(kind, place * LANE, sum(one["count"] for one in some), _count(some, _BAD), seconds))
    told = (f"{lane.kind}: {words.counted(lane.count, 'operation')}" for lane in lanes)
    return Picture(
        lanes=lanes,
        bars=bars,
        height=len(kinds) * LANE + 4,
        length=length,
        bad=_count(activity, _BAD),
        running=_count(activity, (Status.RUNNING,)),
        description=f"{'; '.join(told)}.",
    )


def _count(some: Sequence[Mapping[str, Any]], statuses: Sequence[Status]) -> int:
    return sum(one["count"] for one in some if one["status"] in statuses)
