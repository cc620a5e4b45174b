"""Conversion between datetimes and whole microseconds since 1970 in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

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
    """``from_microseconds`` with a cache, for values that often repeat: outputs of one operation share their time."""

    def __missing__(self, value: int | None) -> datetime | None:
        moment = self[value] = from_microseconds(value)
        return moment
