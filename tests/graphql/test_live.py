"""When a trace is being recorded: what runs, what has just ended, and what was stopped long ago."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from api.graphql.live import LIVE, LONGEST, live
from schema.kinds import Status
from store.contract.protocol import GraphStore
from store.open import open_database
from tests.factory import TraceBuilder

_SECOND = timedelta(seconds=1)


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[GraphStore]:
    async with await open_database(f"sqlite:///{tmp_path / 'store.db'}") as found:
        yield found.project("p")


def _ago(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.now(UTC) - timedelta(seconds=seconds)


_SOON, _LATE = LIVE.total_seconds() - 10, LIVE.total_seconds() + 1


@pytest.mark.parametrize(
    ("began", "ended", "is_live"),
    [
        (_SOON, _SOON, True),
        (_LATE, _LATE, False),
        (500, _SOON, True),  # what took long has just ended
        (500, _LATE, False),
        (_SOON, None, True),
        (None, _SOON, True),
        (None, None, False),
    ],
)
async def test_a_trace_is_live_as_long_as_its_last_operation_has_begun_or_ended_just_now(
    store: GraphStore, began: float | None, ended: float | None, is_live: bool
) -> None:
    trace = TraceBuilder("p")
    trace.operation("before", started_at=_ago(900), ended_at=_ago(900))
    trace.operation("last", started_at=_ago(began), ended_at=_ago(ended))
    await trace.write(store)
    assert await live(store, [trace.trace.id]) == {trace.trace.id: is_live}


@pytest.mark.parametrize(
    ("began", "is_live"),
    [(None, True), (LONGEST.total_seconds() - 60, True), (LONGEST.total_seconds() + 1, False)],
)
async def test_what_runs_makes_a_trace_live_unless_it_began_long_ago(
    store: GraphStore, began: float | None, is_live: bool
) -> None:
    trace = TraceBuilder("p")
    trace.operation("runs", status=Status.RUNNING, started_at=_ago(began), ended_at=None)
    for number in range(20):
        trace.operation(f"o{number}", started_at=_ago(5000), ended_at=_ago(5000))
    await trace.write(store)
    assert await live(store, [trace.trace.id]) == {trace.trace.id: is_live}


async def test_one_of_the_last_operations_is_enough_and_each_trace_is_told_apart(store: GraphStore) -> None:
    traces = [TraceBuilder("p", name) for name in ("ends last", "ended before", "empty")]
    for trace, place in zip(traces, (1, 8), strict=False):
        for number in range(10):
            at = _ago(5 if number == 10 - place - 1 else 5000)
            trace.operation(f"o{number}", started_at=at, ended_at=at)
    for trace in traces:
        await trace.write(store)
    found = await live(store, [*(one.trace.id for one in traces), "0" * 32])
    assert found == {traces[0].trace.id: True, traces[1].trace.id: False, traces[2].trace.id: False}
