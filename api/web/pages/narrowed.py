"""What narrows a list on a page: days in the address, and a mark for each filter that takes the filter away."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta

from api.web.pages.asking import PageError
from api.web.pages.render import at

DAYS = ("since", "until")
"""The filters that are days, from the first day to the last, in UTC like all times on pages."""

Said = Mapping[str, str | None]


def recorded(said: Said) -> dict[str, str | None]:
    """The time between the days of an address as GraphQL takes it; the last day is included whole.

    Raises:
        PageError: a day is none, or the last day is before the first.
    """
    first, last = (_day(said[name]) for name in DAYS)
    if first and last and last < first:
        raise PageError(400, f"The last day, {last}, is before the first day, {first}.")
    return {"since": _begin(first), "until": _begin(last and last + timedelta(1))}


def _begin(day: date | None) -> str | None:
    return datetime.combine(day, time(), UTC).isoformat() if day else None


def chips(project: str, page: str, said: Said, told: Mapping[str, str]) -> list[tuple[str, str]]:
    """What each filter in an address says, and the address without the filter.

    Args:
        project: the project of the page.
        page: the name of the page in its address.
        said: the filters and the order in the address.
        told: the filters that are in use, in words.
    """
    days = {name: f"{word} {said[name]}" for name, word in zip(DAYS, ("from", "to"), strict=True) if said[name]}
    return [(text, at("projects", project, page, **{**said, name: None})) for name, text in {**told, **days}.items()]


def _day(said: str | None) -> date | None:
    try:
        day = date.fromisoformat(said) if said else None
        if day:
            day + timedelta(1)  # the greatest day has no next one
    except (ValueError, OverflowError):
        raise PageError(400, f"“{(said or '')[:40]}” is no day; a day is written like 2026-11-27.") from None
    return day
