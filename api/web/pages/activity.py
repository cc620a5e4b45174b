"""The picture of what a trace's operations did: a lane for each kind, from the first to the last."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.web.pages import words
from schema.kinds import Status

WIDTH, LANE, LEFT = 960, 26, 128
"""Pixels: of the picture, of a lane in height, and of the names at the left."""

_BAD = (Status.ERROR, Status.CANCELLED)


@dataclass(frozen=True, slots=True)
class Bar:
    """Operations of one kind in one stretch.

    Attributes:
        height: of a lane, 0 to 1: how many they are beside the most of any bar.
        bad: how many ended with an error, or were cancelled.
        running: how many have not ended.
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
    """One kind of operation."""

    kind: str
    y: float
    count: int
    bad: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Picture:
    """All lanes and bars.

    Attributes:
        description: in words, for who does not see it.
    """

    lanes: list[Lane]
    bars: list[Bar]
    height: int
    length: int
    bad: int
    running: int
    description: str


def picture(activity: Sequence[Mapping[str, Any]]) -> Picture | None:
    """The picture of a trace's activity, as its document gives it; None of a trace without operations."""
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
