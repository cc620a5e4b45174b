"""Cursors of sorted failures and of idle traces at their borders, without a store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schema.errors import InputError
from schema.models import Trace
from store.contract.answers import FailureKey, FailureOrder
from store.contract.idle import BEFORE_ALL, IdlePosition, IdleTrace, end_of_list, idle_page, read_place
from store.shared.failure_cursor import cursor_at, place_after
from tests.factory import TraceBuilder

ID = "0123456789abcdef" * 2
LARGEST = 10**18
ORDERS = [FailureOrder(by, descending) for by in FailureKey for descending in (True, False)]
KEYS: dict[FailureKey, list[Any]] = {
    FailureKey.TIME: [0, -5, 1_700_000_000_000_000, LARGEST, -LARGEST, None],
    FailureKey.CONFIDENCE: [0, 1, 0.5, 1.0, None],
    FailureKey.ERROR_TYPE: ["", "UpdateError", None],
    FailureKey.OPERATION: ["", "add memory", None],
}
WRONG: dict[FailureKey, list[str]] = {
    FailureKey.TIME: ["0.5", '"x"', "true", str(LARGEST + 1), str(-LARGEST - 1)],
    FailureKey.CONFIDENCE: ['"x"', "true", "1e19", "-1e19"],
    FailureKey.ERROR_TYPE: ["1", "0.5", "false"],
    FailureKey.OPERATION: ["1", "0.5", "false"],
}


@pytest.mark.parametrize("order", ORDERS, ids=repr)
def test_a_cursor_of_failures_names_the_place(order: FailureOrder) -> None:
    for key in KEYS[order.by]:
        cursor = cursor_at(order, key, ID)
        assert place_after(cursor, order) == (key, ID)
        for other in ORDERS:
            if other != order:
                with pytest.raises(InputError, match="not a cursor of this list in this order"):
                    place_after(cursor, other)
    assert place_after(None, order) == (None, None)


@pytest.mark.parametrize("order", ORDERS, ids=repr)
def test_a_made_up_cursor_of_failures_is_refused(order: FailureOrder) -> None:
    right = f'["{order.by.value}",{str(order.descending).lower()},null,"{ID}"]'
    assert place_after(right, order) == (None, ID)
    made_up = [right.replace("null", key) for key in WRONG[order.by]]
    made_up += [right.replace(ID, other) for other in ("", ID[1:], ID + "0", ID.replace("a", "A"), "g" + ID[1:])]
    made_up += ["", "[]", "{}", right[:-1], right.replace("null,", ""), "\ud800"]
    for cursor in made_up:
        with pytest.raises(InputError, match="not a cursor of this list in this order"):
            place_after(cursor, order)


@pytest.mark.parametrize(
    ("cursor", "place"),
    [
        (None, BEFORE_ALL),
        (f"0:{ID}", IdlePosition(0, ID)),
        (f"{'9' * 17}:{ID}", IdlePosition(10**17 - 1, ID)),
    ],
)
def test_a_cursor_of_idle_traces_names_the_place(cursor: str | None, place: IdlePosition) -> None:
    assert read_place(cursor) == place


@pytest.mark.parametrize(
    "cursor",
    ["", ":", f":{ID}", "5:", f"{'9' * 18}:{ID}", f"-1:{ID}", f"5:{ID}0", f"5:{ID[1:]}", f" 5:{ID}", f"٥:{ID}"],
)
def test_a_made_up_cursor_of_idle_traces_is_refused(cursor: str) -> None:
    with pytest.raises(InputError, match="is not a cursor of this list"):
        read_place(cursor)


START = datetime(2026, 1, 1, tzinfo=UTC)
MICROSECONDS = 1_767_225_600_000_000


def at(seconds: int, id_: str = "") -> IdlePosition:
    return IdlePosition(MICROSECONDS + seconds * 1_000_000, id_)


@pytest.mark.parametrize(
    ("until", "before", "kept", "end"),
    [
        (9, None, None, BEFORE_ALL),
        (9, 5, None, at(5)),
        (9, None, at(7, ID), at(7, ID)),
        (9, 5, at(7, ID), at(7, ID)),
        (9, 7, at(5, ID), at(7)),
        (9, 5, at(5, ID), at(5, ID)),
        (3, 5, at(7, ID), at(3)),
        (3, 3, None, at(3)),
    ],
)
def test_traces_are_idle_before_either_bound_but_never_after_the_end(
    until: int, before: int | None, kept: IdlePosition | None, end: IdlePosition
) -> None:
    limit = None if before is None else START + timedelta(seconds=before)
    assert end_of_list(START + timedelta(seconds=until), limit, kept) == end


def trace(number: int) -> Trace:
    return replace(TraceBuilder("p").trace, id=f"{number:032x}")


def test_a_page_of_idle_traces_leads_to_the_next_one() -> None:
    places = [at(number, trace(number).id) for number in range(3)]
    traces = [trace(2), trace(0), trace(1)]
    items = [IdleTrace(trace(number), START + timedelta(seconds=number)) for number in range(3)]
    two = idle_page(places, 2, traces)
    assert (two.items, two.next) == (items[:2], f"{places[1].at}:{places[1].id}")
    assert read_place(two.next) == places[1]
    for first in (3, 4):
        whole = idle_page(places, first, traces)
        assert (whole.items, whole.next) == (items, None)
    assert (idle_page(places, 0, traces).items, idle_page(places, 0, traces).next) == ([], None)


def test_a_trace_that_was_deleted_meanwhile_is_left_out() -> None:
    places = [at(number, trace(number).id) for number in range(3)]
    found = idle_page(places, 2, [trace(0)])
    assert ([one.trace for one in found.items], found.next) == ([trace(0)], f"{places[1].at}:{places[1].id}")
