"""Conversion of times from outside to UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from schema.errors import InputError


def in_utc(moment: datetime, source: str, place: str) -> datetime:
    """The same moment in UTC.

    Args:
        moment: a datetime with a time zone.
        source: for the error, the input with the time.
        place: for the error, the place in the source.

    Raises:
        InputError: ``moment`` has no time zone, or is before the year 1 or after the year 9999 in UTC.
    """
    if moment.tzinfo is None:
        raise InputError(source, place, f"{moment.isoformat()} does not say its zone")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        problem = f"{moment.isoformat()} is not within the years 1 to 9999 of UTC"
        raise InputError(source, place, problem) from None
