"""Times as whole microseconds since 1970 in UTC: exact, and quick to move."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_microseconds(moment: datetime | None) -> int | None:
    """Exact: no floating point on the way."""
    if moment is None:
        return None
    past = moment - EPOCH
    return past.days * 86_400_000_000 + past.seconds * 1_000_000 + past.microseconds


def from_microseconds(value: int | None) -> datetime | None:
    """The inverse of ``to_microseconds``."""
    return None if value is None else EPOCH + timedelta(0, 0, value)


class Times(dict[int | None, datetime | None]):
    """``from_microseconds`` for many values of which most repeat: what one operation writes has one time."""

    def __missing__(self, value: int | None) -> datetime | None:
        """Work a value out the first time that it is asked for."""
        moment = self[value] = from_microseconds(value)
        return moment
