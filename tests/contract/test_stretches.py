"""Times in microseconds, stretches of a period, and parts of a list by size: at their borders, without a store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from schema.errors import InputError
from schema.times import EPOCH, Times, from_microseconds, in_utc, to_microseconds
from store.contract.answers import Label
from store.shared.paging import by_size
from store.shared.timeline import MOST_STRETCHES, Stretches
from tests.factory import TraceBuilder

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "value"),
    [
        (None, None),
        (EPOCH, 0),
        (EPOCH + timedelta(microseconds=1), 1),
        (EPOCH - timedelta(microseconds=1), -1),
        (EPOCH + timedelta(seconds=1), 1_000_000),
        (EPOCH + timedelta(days=1, seconds=2, microseconds=3), 86_402_000_003),
        (datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC), 1_767_225_600_000_001),
        (datetime(1, 1, 1, tzinfo=UTC), -62_135_596_800_000_000),
        (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), 253_402_300_799_999_999),
    ],
)
def test_times_are_exact_in_microseconds(moment: datetime | None, value: int | None) -> None:
    assert to_microseconds(moment) == value
    assert from_microseconds(value) == moment
    times = Times()
    assert (times[value], times[value]) == (moment, moment)
    assert times == {value: moment}


def test_a_moment_in_another_zone_is_the_same_moment() -> None:
    ahead = timezone(timedelta(hours=2))
    found = in_utc(datetime(2026, 1, 1, 2, tzinfo=ahead), "file", "time")
    assert (found, found.tzinfo) == (START, UTC)
    with pytest.raises(InputError, match=r"file: time: 2026-01-01T00:00:00 does not say its zone"):
        in_utc(datetime(2026, 1, 1), "file", "time")
    with pytest.raises(InputError, match=r"file: time: 0001-01-01T01:00:00\+02:00 is not within the years"):
        in_utc(datetime(1, 1, 1, 1, tzinfo=ahead), "file", "time")


@pytest.mark.parametrize(
    ("length", "seconds", "count"),
    [
        (timedelta(0), 60, 0),
        (timedelta(seconds=-1), 60, 0),
        (timedelta(days=-9), 60, 0),
        (timedelta(microseconds=1), 60, 1),
        (timedelta(seconds=60), 60, 1),
        (timedelta(seconds=60, microseconds=1), 60, 2),
        (timedelta(seconds=180), 60, 3),
        (timedelta(seconds=1), 1, 1),
        (timedelta(seconds=MOST_STRETCHES), 1, MOST_STRETCHES),
    ],
)
def test_the_last_stretch_may_be_shorter(length: timedelta, seconds: int, count: int) -> None:
    found = Stretches.between(START, START + length, seconds)
    assert found.count == count
    assert found.width == seconds * 1_000_000
    assert from_microseconds(found.start) == START
    assert from_microseconds(found.end) == START + length
    assert len(found.periods([])) == count


def test_too_many_stretches_and_too_short_ones_are_refused() -> None:
    with pytest.raises(InputError, match="10,001 stretches of 1 s are more than 10,000"):
        Stretches.between(START, START + timedelta(seconds=MOST_STRETCHES, microseconds=1), 1)
    for seconds in (0, -1):
        with pytest.raises(InputError, match=f"at least one second, not {seconds}"):
            Stretches.between(START, START + timedelta(hours=1), seconds)
    for place, since, until in (
        ("since", datetime(2026, 1, 1), START),
        ("until", START, datetime(2026, 1, 1)),
    ):
        with pytest.raises(InputError, match=f"timeline: {place}: "):
            Stretches.between(since, until, 60)


def test_each_stretch_has_its_counts() -> None:
    stretches = Stretches.between(START, START + timedelta(minutes=3), 60)
    rows = [
        (Label.TRACE.value, "", 2, 5),
        (Label.ATTRIBUTION.value, "UpdateError", 0, 3),
        (Label.FAILURE.value, "", 0, 4),
        (Label.ATTRIBUTION.value, "RetrievalError", 0, 1),
        (Label.TRACE.value, "", 0, 2),
        (Label.ATTRIBUTION.value, "UpdateError", 2, 7),
    ]
    found = [(one.start, one.traces, one.failures, one.verdicts) for one in stretches.periods(iter(rows))]
    assert found == [
        (START, 2, 4, {"UpdateError": 3, "RetrievalError": 1}),
        (START + timedelta(minutes=1), 0, 0, {}),
        (START + timedelta(minutes=2), 5, 0, {"UpdateError": 7}),
    ]


@pytest.mark.parametrize(
    ("sizes", "most_bytes", "most", "parts"),
    [
        ([], 10, 10, []),
        ([4, 6], 10, 10, [[4, 6]]),
        ([4, 7], 10, 10, [[4], [7]]),
        ([4, 6, 1], 10, 10, [[4, 6], [1]]),
        ([11, 1], 10, 10, [[11], [1]]),
        ([1, 11, 1], 10, 10, [[1], [11], [1]]),
        ([5, 5, 5, 5, 5], 10, 10, [[5, 5], [5, 5], [5]]),
        ([0, 0, 0], 10, 2, [[0, 0], [0]]),
        ([0, 0], 10, 2, [[0, 0]]),
        ([0, 0], 0, 1, [[0], [0]]),
    ],
)
def test_parts_are_of_bounded_size_and_in_order(
    sizes: list[int], most_bytes: int, most: int, parts: list[list[int]]
) -> None:
    builder = TraceBuilder("p")
    variables = [replace(builder.variable(f"v{number}"), size=size) for number, size in enumerate(sizes)]
    found = list(by_size(variables, most_bytes, most))
    assert [[one.size for one in part] for part in found] == parts
    assert [one for part in found for one in part] == variables
