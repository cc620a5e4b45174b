"""Pages of idle traces in a SQLite file."""

from __future__ import annotations

from datetime import datetime

from schema.models import Trace
from store.contract.answers import Page
from store.contract.idle import IdlePosition, IdleTrace, end_of_list, idle_page, read_place
from store.sqlite.context import ReadContext


def idle_traces(
    context: ReadContext,
    until: datetime,
    before: datetime | None,
    keep: int | None,
    first: int,
    after: str | None,
) -> Page[IdleTrace]:
    """A page of idle traces; see ``GraphStore.idle_traces``."""
    start = read_place(after)
    kept = [] if keep is None else context.rows("traces.written_in_order", skip=keep - 1)
    end = end_of_list(until, before, IdlePosition(kept[0][0], kept[0][1].hex()) if kept else None)
    rows = context.rows(
        "traces.page_idle", place=start.at, last=start.id, end=end.at, end_id=end.id, count=max(first, 0) + 1
    )
    found = context.reader().read(Trace, [k for k, _, _ in rows[:first]])
    return idle_page([IdlePosition(at, id_.hex()) for _, at, id_ in rows], first, found.values())
