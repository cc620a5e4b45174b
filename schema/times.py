"""Conversion of times: to UTC, and to whole microseconds since 1970 in UTC and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from schema.errors import InputError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_microseconds(moment: datetime | None) -> int | None:
    """A time in microseconds, exact: no floating point is used."""
    if moment is None:
        return None
    past = moment - EPOCH
    return past.days * 86_400_000_000 + past.seconds * 1_000_000 + past.microseconds


def from_microseconds(value: int | None) -> datetime | None:
    """The inverse of ``to_microseconds``."""
    return None if value is None else EPOCH + timedelta(0, 0, value)


class Times(dict[int | None, datetime | None]):
    """``from_microseconds`` with a cache, for times that repeat: outputs of an operation have equal times."""

    def __missing__(self, value: int | None) -> datetime | None:
        moment = self[value] = from_microseconds(value)
        return moment


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
