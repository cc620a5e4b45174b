"""The chart of a trace's operations: where the bars stand, how high they are, and what the lanes add up to."""

from __future__ import annotations

from typing import Any

import pytest

from api.web.pages.activity import LANE, LEFT, WIDTH, Bar, picture


def cell(kind: str, start: int, status: str, count: int, seconds: float = 1.0) -> dict[str, Any]:
    return {"kind": kind, "start": start, "length": 10, "status": status, "count": count, "seconds": seconds}


def bars(*activity: dict[str, Any]) -> list[Bar]:
    found = picture(activity)
    assert found is not None
    return found.bars


def test_a_trace_without_operations_has_no_chart() -> None:
    assert picture([]) is None


def test_the_highest_bar_has_most_operations_of_all_ends_together() -> None:
    busy = [cell("Update", 0, status, 10) for status in ("ok", "error", "cancelled", "running")]
    found = bars(*busy, cell("Update", 10, "ok", 20), cell("Retrieval", 10, "ok", 1))
    assert [(one.start, one.count, one.height) for one in found] == [(0, 40, 1.0), (10, 20, 0.5), (10, 1, 0.18)]
    assert (found[0].bad, found[0].running, found[0].seconds) == (20, 10, 4.0)
    assert all(0 < one.height <= 1 for one in found)


@pytest.mark.parametrize("stretches", [1, 2, 40, 2_000])
def test_the_bars_fill_the_width_and_do_not_overlap(stretches: int) -> None:
    found = bars(*(cell("Update", 10 * number, "ok", 1) for number in range(stretches)))
    assert found[0].x == LEFT
    step = (WIDTH - LEFT) / stretches
    for number, one in enumerate(found):
        assert one.x == pytest.approx(LEFT + number * step, abs=0.06)
        assert one.width == round(max(1.0, step - 1), 1)
    assert found[-1].x + found[-1].width <= WIDTH + 1


def test_each_kind_has_a_lane_with_its_sums() -> None:
    found = picture(
        [
            cell("Update", 0, "ok", 2, 1.5),
            cell("Retrieval", 0, "error", 1, 0.5),
            cell("Update", 20, "cancelled", 3, 2.0),
            cell("Retrieval", 20, "running", 1, 0.0),
        ]
    )
    assert found is not None
    assert [(one.kind, one.y, one.count, one.bad, one.seconds) for one in found.lanes] == [
        ("Update", 0, 5, 3, 3.5),
        ("Retrieval", LANE, 2, 1, 0.5),
    ]
    assert [(one.start, one.y) for one in found.bars] == [(0, 0), (0, LANE), (20, 0), (20, LANE)]
    assert (found.height, found.length, found.bad, found.running) == (2 * LANE + 4, 10, 4, 1)
    assert found.description == "Update: 5 operations; Retrieval: 2 operations."
