"""Whether traces are being recorded at the moment."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from schema.kinds import Status
from schema.models import Operation
from store.contract.answers import Label
from store.contract.protocol import GraphStore

LIVE = timedelta(seconds=30)
"""The time after its last operation in which a trace counts as live, although nothing runs."""

LONGEST = timedelta(hours=1)
"""An operation that began longer ago and has no end is of a program that was stopped: it makes no trace live."""

_LAST = 8
"""Number of operations at the end of a trace, and of running ones, that are checked: the last may have ended before."""


async def live(store: GraphStore, trace_ids: Sequence[str]) -> dict[str, bool]:
    """For each trace, whether an operation of a program that is still there runs, or one has just ended."""
    running = await store.pages(Label.OPERATION, trace_ids, _LAST, statuses=[Status.RUNNING.value])
    now = datetime.now(UTC)

    def runs(one: object) -> bool:
        return isinstance(one, Operation) and (one.started_at is None or one.started_at > now - LONGEST)

    async def is_live(id_: str) -> bool:
        return any(map(runs, running[id_].items)) or await _last_at(store, id_) > now - LIVE

    return dict(zip(running, await asyncio.gather(*map(is_live, running)), strict=True))


async def _last_at(store: GraphStore, trace_id: str) -> datetime:
    """The latest recorded start or end of these operations; the smallest time if no time is recorded."""
    end = (await store.stored(trace_id, {})).next[Label.OPERATION]
    page = await store.page(Label.OPERATION, trace_id, _LAST, since=max(0, end - _LAST))
    found = [one for one in page.items if isinstance(one, Operation)]
    times = (time for one in found for time in (one.started_at, one.ended_at) if time is not None)
    return max(times, default=datetime.min.replace(tzinfo=UTC))
