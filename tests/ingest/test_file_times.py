"""Times of files: as they are read in a zone, and whether they are written back as they were."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ingest.files.smartcomment.recorded import Clock
from schema.errors import InputError

NOON = datetime(2026, 7, 1, 12, 0, 0, 390_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "text"), [("UTC", "2026-07-01 12:00:00.390"), ("Europe/Berlin", "2026-07-01 14:00:00.390")]
)
def test_a_time_is_read_and_written_in_its_zone(zone: str, text: str) -> None:
    clock = Clock(zone)
    assert clock.read(text) == NOON
    assert clock.read(text).tzinfo is UTC
    assert clock.write(NOON) == text
    assert clock.write(NOON + timedelta(microseconds=999)) == text
    assert clock.read("2026-07-01 12:00:00.390Z") == NOON
    assert clock.read("2026-07-01 12:00:00.390+01:00") == NOON - timedelta(hours=1)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize(
    ("text", "is_usual"),
    [
        ("2026-07-01 12:00:00.390", True),
        ("2026-07-01 12:00:00.000", True),
        ("2026-07-01T12:00:00.390", False),
        ("2026-07-01 12:00:00,390", False),
        ("2026-07-01 12:00:00.3900", False),
        ("2026-07-01 12:00:00.390001", False),
        ("2026-07-01 12:00:00", False),
        ("2026-07-01", False),
        ("2026-07-01 12:00:00.390Z", False),
    ],
)
def test_a_usual_time_is_written_as_it_was_read(zone: str, text: str, is_usual: bool) -> None:
    clock = Clock(zone)
    assert clock.is_usual(text) is is_usual
    assert (clock.write(clock.read(text)) == text) is is_usual


def test_the_last_time_does_not_stand_for_another() -> None:
    clock = Clock("Europe/Berlin")
    texts = ["2026-07-01 14:00:00.390", "2026-01-01 14:00:00.390", "2026-07-01 14:00:00.390"]
    assert [clock.read(text).hour for text in (*texts, texts[-1])] == [12, 13, 12, 12]


def test_what_is_no_time_or_no_zone_is_refused() -> None:
    for zone in ("Nowhere/Town", "", "../etc", "utc\0"):
        with pytest.raises(InputError, match="is no time zone of the IANA database"):
            Clock(zone)
    for text in ("yesterday", "2026-13-01 12:00:00.390", ""):
        with pytest.raises(ValueError, match=r"isoformat|month"):
            Clock("UTC").read(text)
    for zone, text in (("Asia/Tokyo", "0001-01-01 00:00:00.000"), ("America/Lima", "9999-12-31 23:00:00.000")):
        with pytest.raises(ValueError, match="not within the years 1 to 9999 of UTC"):
            Clock(zone).read(text)


def test_a_moment_at_the_end_of_time_is_written_in_utc() -> None:
    last = datetime(9999, 12, 31, 23, tzinfo=UTC)
    assert Clock("Asia/Tokyo").write(last) == "9999-12-31 23:00:00.000"
