"""Times that come from outside are converted to UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from schema.errors import InputError


def in_utc(moment: datetime, source: str, place: str) -> datetime:
    """The same moment in UTC.

    Args:
        moment: has a time zone.
        source: what it came with, for the error.
        place: where in the source it is, for the error.

    Raises:
        InputError: it has no time zone, or in UTC it is before the year 1 or after the year 9999.
    """
    if moment.tzinfo is None:
        raise InputError(source, place, f"{moment.isoformat()} does not say its zone")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        problem = f"{moment.isoformat()} is not within the years 1 to 9999 of UTC"
        raise InputError(source, place, problem) from None
