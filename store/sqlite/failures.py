"""Pages of filtered and sorted failures."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec

from schema.kinds import HUMAN_METHOD
from schema.models import Failure
from schema.times import to_microseconds
from store.contract.answers import ALL_FAILURES, FailureFilter, FailureOrder, Page
from store.shared.failure_cursor import cursor_at, place_after
from store.sqlite.context import FIRST_ID, ReadContext, id_cursor


def page(
    context: ReadContext,
    trace_id: str | None = None,
    first: int = 100,
    after: str | None = None,
    wanted: FailureFilter = ALL_FAILURES,
    order: FailureOrder | None = None,
) -> Page[Failure]:
    """A page of the wanted failures; without an ``order``, by trace and id."""
    bindings = _bindings(wanted) | {"trace": trace_id, "count": first + 1}
    if order is None:
        place, last = id_cursor(after, FIRST_ID)
        rows = context.rows("failures.page", place=place, last=last, **bindings)
        cursors = [f"{trace.lower()}:{id_.lower()}" for _, trace, id_ in rows]
    else:
        key, after_id = place_after(after, order)
        said = {"by": order.by.value, "descending": order.descending, "key": key, "last": after_id}
        rows = context.rows("failures.sorted", **said, **bindings)
        cursors = [cursor_at(order, key, id_.lower()) for _, key, id_ in rows]
    here = [row[0] for row in rows[:first]]
    found = context.reader().read(Failure, here)
    return Page([found[k] for k in here], cursors[first - 1] if len(rows) > first else None)


def count(context: ReadContext, trace_id: str | None = None, wanted: FailureFilter = ALL_FAILURES) -> int:
    """The number of wanted failures, of one trace or of all."""
    ((found,),) = context.rows("failures.count", trace=trace_id, **_bindings(wanted))
    return int(found)


def _bindings(wanted: FailureFilter) -> dict[str, Any]:
    """The parameters of the texts for a filter."""
    without = msgspec.json.encode(sorted(wanted.without)).decode() if wanted.without else None
    text = None if wanted.text is None else wanted.text.lower()
    return asdict(wanted) | {
        "text": text,
        "since": to_microseconds(wanted.since),
        "until": to_microseconds(wanted.until),
        "without": without,
        "asks_verdicts": wanted.asks_verdicts,
        "human": HUMAN_METHOD,
    }
