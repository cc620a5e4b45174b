"""Times of exported spans: nanoseconds since 1970, and never 0, which means that a time is missing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ingest.exports.otlp import _nanoseconds


@pytest.mark.parametrize(
    ("moment", "nanoseconds"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC), 1),
        (datetime(1969, 12, 31, tzinfo=UTC), 1),
        (datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC), 1_000),
        (datetime(1970, 1, 2, 0, 0, 1, 2, tzinfo=UTC), 86_401_000_002_000),
        (datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC), 1_767_323_045_678_901_000),
    ],
)
def test_a_moment_is_exact_and_never_missing(moment: datetime, nanoseconds: int) -> None:
    assert _nanoseconds(moment) == nanoseconds
