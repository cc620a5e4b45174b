"""Times as people type them: a day, a time of day, or how long ago."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.errors import UsageError

if TYPE_CHECKING:
    from store.contract.answers import Span


def _checked(option: str) -> Callable[[str | None], str | None]:
    """Refuses what is no time while the command line is read, so that advice never names a line that is refused."""

    def check(said: str | None) -> str | None:
        if said is not None:
            _moment(said, datetime.now(UTC), option)
        return said

    return check


SinceOption = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="Only what was recorded at this time or later: 2h, 3d, today, monday, 2026-11-27, 14:30. --today is short "
        "for one day. What was recorded without a time is left out.",
        callback=_checked("--since"),
        show_default=False,
    ),
]
UntilOption = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="TIME",
        help="Only what was recorded before this time; a day is included whole.",
        callback=_checked("--until"),
        show_default=False,
    ),
]

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO = re.compile(r"(\d{1,6})\s*(m|min|minutes?|h|hours?|d|days?|w|weeks?)(\s+ago)?")
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)")
_DAYS = {"today": 0, "yesterday": 1}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_FORMS = "such as 2h, 3d, today, yesterday, monday, 2026-11-27, 2026-11-27T14:30 or 14:30"


def span(since: str | None, until: str | None, now: datetime | None = None) -> Span:
    """The time between the values of two options.

    Args:
        since: the value of ``--since``.
        until: the value of ``--until``; a day is included whole.
        now: the current time; None asks the clock.

    Raises:
        UsageError: a value is no time, or the end is not after the beginning.
    """
    from store.contract.answers import Span

    now = now or datetime.now(UTC)
    begin = None if since is None else _moment(since, now, "--since")
    end = None if until is None else _moment(until, now, "--until", is_end=True)
    if begin is not None and end is not None and begin >= end:
        raise UsageError(f"--until {until} is not after --since {since}")
    return Span(begin, end)


def _moment(said: str, now: datetime, option: str, is_end: bool = False) -> datetime:
    """The time that somebody typed; a time without a zone is this machine's time.

    Args:
        said: what was typed.
        now: the current time.
        option: the name of the option, for an error.
        is_end: whether a day means its end.
    """
    text = said.strip()
    word = text.casefold()
    today = now.astimezone().date()
    try:
        if ago := _AGO.fullmatch(word):
            return now - timedelta(**{_UNITS[ago[2][0]]: int(ago[1])})
        if word == "now":
            return now
        if word in _WEEKDAYS:
            word, text = "", str(today - timedelta((today.weekday() - _WEEKDAYS.index(word)) % 7))
        day = today - timedelta(_DAYS[word]) if word in _DAYS else _day(text)
        if day is not None:
            return datetime.combine(day + timedelta(is_end), time()).astimezone(UTC)
        if clock := _CLOCK.fullmatch(text):
            return datetime.combine(today, time(int(clock[1]), int(clock[2]))).astimezone(UTC)
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"{option} {said!r} is no time; a time is written {_FORMS}") from None


PERIODS: Mapping[str, str] = {
    **dict.fromkeys(("hour", "hourly"), "%Y-%m-%d %H:00"),
    **dict.fromkeys(("day", "daily", "date"), "%Y-%m-%d"),
    **dict.fromkeys(("week", "weekly"), "%G-W%V"),
    **dict.fromkeys(("month", "monthly"), "%Y-%m"),
    **dict.fromkeys(("weekday",), "%A"),
}
"""The periods by which things are counted, and how each is written."""


def period_of(said: str | None, form: str) -> str | None:
    """The period in which a time of a document is, in the time of this machine; None without a time."""
    return datetime.fromisoformat(said).astimezone().strftime(form) if said else None


def is_time(said: str) -> bool:
    """Whether somebody typed a time."""
    try:
        _moment(said, datetime.now(UTC), "")
    except UsageError:
        return False
    return True


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
