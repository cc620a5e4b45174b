"""Who said a message and when, by what the recorder noted beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from attribution.trace.told import Told, told_of
from tests.factory import TraceBuilder

RECORDED = datetime(2026, 1, 2, tzinfo=UTC)
DAY, MAY = RECORDED.toordinal(), date(2024, 5, 1).toordinal()


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        ({}, Told(None, DAY, False)),
        ({"speaker": "Mara"}, Told("mara", DAY, False)),
        ({"author": "MARA STRASSE"}, Told("mara strasse", DAY, False)),
        ({"sender": "Straße"}, Told("strasse", DAY, False)),
        ({"sender": "Cy", "author": "Ben", "speaker": "Ada"}, Told("ada", DAY, False)),
        ({"sender": "Cy", "author": "Ben", "speaker": " "}, Told("ben", DAY, False)),
        ({"sender": "Cy", "author": None, "speaker": 7}, Told("cy", DAY, False)),
        ({"name": "Mara", "when": "2024-05-01"}, Told(None, DAY, False)),
        ({"time": "2024-05-01"}, Told(None, MAY, True)),
        ({"timestamp": "2024-05-01T23:59:59"}, Told(None, MAY, True)),
        ({"date": "2024-05-01T10:00:00+02:00"}, Told(None, MAY, True)),
        ({"date": "2024-05-03", "timestamp": "2024-05-02", "time": "2024-05-01"}, Told(None, MAY, True)),
        ({"date": "2024-05-01", "timestamp": "yesterday", "time": 1714521600}, Told(None, MAY, True)),
        ({"time": "yesterday", "date": None}, Told(None, DAY, False)),
        ({"speaker": "Mara", "time": "2026-01-02"}, Told("mara", DAY, True)),
    ],
)
def test_the_first_field_that_tells_counts(attributes: dict[str, Any], told: Told) -> None:
    message = TraceBuilder("p").variable("m", created_at=RECORDED, attributes=json.dumps(attributes))
    assert told_of(message) == told
    unknown = told._replace(day=told.day if told.is_dated else None)
    assert told_of(replace(message, created_at=None)) == unknown
