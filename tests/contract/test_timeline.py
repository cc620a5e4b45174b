"""What came into a project, by stretches of time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest

from schema.errors import InputError
from schema.kinds import ErrorType
from store.contract.answers import Period
from store.contract.protocol import GraphStore
from tests.contract.test_records import OUT_OF_RANGE
from tests.factory import START, TraceBuilder

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def second(number: float) -> datetime:
    return NOON + timedelta(seconds=number)


@pytest.mark.each_engine
async def test_what_came_when(store: GraphStore, project: str) -> None:
    random = Random(3)
    came: list[tuple[str, str, datetime]] = []

    def some_time(label: str, kind: str = "") -> datetime:
        microseconds = random.choice([-1, 0, 1, 999_999, random.randrange(1_000_000)])
        moment = second(random.randrange(-3, 15)) + timedelta(microseconds=microseconds)
        came.append((label, kind, moment))
        return moment

    for number in range(12):
        trace = TraceBuilder(project, f"trace {number}")
        trace.trace = replace(trace.trace, created_at=some_time("Trace") if number else None)
        for place in range(number % 4):
            failure = trace.failure(trace.variable(f"q{place}"), created_at=some_time("Failure"))
            trace.failure(trace.variable(f"undated {place}"), created_at=None)
            for method in ("words", "model", "human"):
                error_type = random.choice([None, *ErrorType])
                moment = some_time("Attribution", error_type or "")
                trace.attribution(failure, method, error_type=error_type, created_at=moment)
            trace.attribution(failure, "undated", created_at=None)
        await trace.write(store)

    for width, count in ((1, 12), (3, 4), (5, 3), (12, 1), (100, 1)):
        expected = []
        for start in range(0, 12, width):
            end = min(second(12), second(start + width))
            here = [(label, kind) for label, kind, moment in came if second(start) <= moment < end]
            labels = Counter(label for label, _ in here)
            verdicts = Counter(kind for label, kind in here if label == "Attribution")
            expected.append(Period(second(start), labels["Trace"], labels["Failure"], dict(verdicts)))
        found = await store.timeline(NOON, second(12), width)
        assert found == expected
        assert len(found) == count
        assert all(period.start.tzinfo is UTC for period in found)
    assert sum(period.traces for period in await store.timeline(NOON, second(12), 1)) > 0


async def test_stretches_without_anything(store: GraphStore, project: str) -> None:
    here = timezone(timedelta(hours=-7))
    assert await store.timeline(NOON.astimezone(here), second(150), 60) == [
        Period(second(60 * number), 0, 0, {}) for number in range(3)
    ]
    assert await store.timeline(NOON, NOON, 1) == []
    assert await store.timeline(NOON, second(-1), 1) == []


async def test_bounds_of_stretches(store: GraphStore, project: str) -> None:
    assert len(await store.timeline(NOON, second(10_000), 1)) == 10_000
    for until, seconds in ((second(10_000.000001), 1), (second(20_001), 2), (second(1), 0), (second(1), -1)):
        with pytest.raises(InputError, match="seconds"):
            await store.timeline(NOON, until, seconds)


@pytest.mark.one_engine
@pytest.mark.parametrize("moment", OUT_OF_RANGE)
async def test_moments_that_are_none_in_utc_are_refused(store: GraphStore, moment: datetime) -> None:
    for since, until in ((moment, START), (START, moment)):
        with pytest.raises(InputError, match=r"timeline: (since|until): "):
            await store.timeline(since, until, 3600)
