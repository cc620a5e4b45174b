"""Which traces nothing was written to for long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from schema.errors import InputError
from schema.ids import make_id
from schema.models import Batch
from store.contract.answers import Page
from store.contract.idle import IdleTrace
from store.contract.protocol import Database, GraphStore
from tests.contract.ageing import age
from tests.contract.samples import assistant
from tests.contract.test_pages import all_pages
from tests.factory import START, TraceBuilder

LATER = START + timedelta(days=1000)
BAD_CURSORS = ["", "x", ":", "1:", "-1:" + "0" * 32, "1:" + "g" * 32, "9" * 18 + ":" + "0" * 32, "ünï:" + "0" * 32]


async def aged(database: Database, store: GraphStore, days: list[int]) -> list[IdleTrace]:
    """A trace for each of these ages, in the order of the list."""
    made = []
    for number, day in enumerate(days):
        trace = TraceBuilder(store.project_id, f"trace {number}")
        await trace.write(store)
        written_at = START + timedelta(days=day)
        await age(database, trace.trace.id, written_at)
        made.append(IdleTrace(trace.trace, written_at))
    return made


@pytest.mark.each_engine
async def test_what_was_last_written_to_before_a_moment(database: Database, store: GraphStore) -> None:
    made = await aged(database, store, [3, 1, 2])
    oldest_first = [made[1], made[2], made[0]]
    for day, count in ((1, 0), (2, 1), (3, 2), (4, 3)):
        found = await store.idle_traces(LATER, START + timedelta(days=day))
        assert found == Page(oldest_first[:count], None)
    assert await store.idle_traces(LATER, START + timedelta(days=1, microseconds=1)) == Page(oldest_first[:1], None)


@pytest.mark.each_engine
async def test_what_is_not_among_the_newest(database: Database, store: GraphStore) -> None:
    made = await aged(database, store, [3, 1, 2])
    oldest_first = [made[1], made[2], made[0]]
    for keep, count in ((1, 2), (2, 1), (3, 0), (4, 0), (1_000_000_000, 0)):
        assert await store.idle_traces(LATER, keep=keep) == Page(oldest_first[:count], None)


async def test_either_bound_is_enough_and_nothing_is_idle_without_one(database: Database, store: GraphStore) -> None:
    made = await aged(database, store, [1, 2, 3, 4])
    assert (await store.idle_traces(LATER, START + timedelta(days=2), 2)).items == made[:2]
    assert (await store.idle_traces(LATER, START + timedelta(days=4), 2)).items == made[:3]
    assert await store.idle_traces(LATER) == Page([], None)


async def test_what_was_written_to_of_late_is_never_idle(database: Database, store: GraphStore) -> None:
    made = await aged(database, store, [1, 2, 3])
    assert (await store.idle_traces(START + timedelta(days=2), LATER, 1)).items == made[:1]
    assert (await store.idle_traces(START + timedelta(days=1), LATER, 1)).items == []


async def test_a_write_makes_a_trace_young(database: Database, store: GraphStore, project: str) -> None:
    """The time of writing counts, not the recorded times, and also where nothing new was written."""
    trace = assistant(project)
    before = datetime.now(UTC) - timedelta(minutes=1)
    await trace.write(store)
    (first,) = (await store.idle_traces(LATER, LATER)).items
    assert first.written_at > before
    for batch in (Batch(trace.trace), trace.batch()):
        await age(database, trace.trace.id, START)
        await store.write(batch)
        (found,) = (await store.idle_traces(LATER, LATER)).items
        assert (found.trace, found.written_at >= first.written_at) == (trace.trace, True)


@pytest.mark.each_engine
@pytest.mark.parametrize("first", [1, 2, 100])
async def test_pages_come_oldest_first_and_then_by_id(database: Database, store: GraphStore, first: int) -> None:
    made = await aged(database, store, [2, 1, 1, 3, 1])
    expected = sorted(made, key=lambda idle: (idle.written_at, idle.trace.id))
    for before, keep, count in ((LATER, None, 5), (None, 1, 4), (None, 3, 2)):

        async def read(after: str | None, before: datetime | None = before, keep: int | None = keep) -> Page[IdleTrace]:
            return await store.idle_traces(LATER, before, keep, first, after)

        assert await all_pages(read, first) == expected[:count]


async def test_what_is_deleted_between_two_pages_moves_none(database: Database, store: GraphStore) -> None:
    made = await aged(database, store, [1, 2, 3, 4])
    page = await store.idle_traces(LATER, LATER, first=2)
    await store.delete_trace(made[0].trace.id)
    await store.delete_trace(made[1].trace.id)
    assert (await store.idle_traces(LATER, LATER, after=page.next)).items == made[2:]


@pytest.mark.one_engine
@pytest.mark.parametrize("cursor", BAD_CURSORS)
async def test_a_bad_cursor_is_refused(store: GraphStore, cursor: str) -> None:
    with pytest.raises(InputError, match="cursor"):
        await store.idle_traces(LATER, LATER, after=cursor)


async def test_a_cursor_of_what_never_was(database: Database, store: GraphStore) -> None:
    made = await aged(database, store, [1])
    assert (await store.idle_traces(LATER, LATER, after=f"0:{make_id('nothing')}")).items == made
    assert (await store.idle_traces(LATER, LATER, after=f"{'9' * 17}:{make_id('nothing')}")).items == []
