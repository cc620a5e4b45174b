"""Idle traces, to which nothing has been written for long: what both engines share.

Traces are listed by the time of the last write and by id. That time is the store's own, and each write sets it anew,
whatever times the recorded elements have: a trace that is still being written is never among the idle ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from schema.errors import InputError
from schema.ids import ID_LENGTH
from schema.microseconds import from_microseconds, to_microseconds
from schema.models import Trace
from store.contract.answers import Page

_CURSOR = re.compile(rf"(\d{{1,17}}):([0-9a-f]{{{ID_LENGTH}}})", re.ASCII)


@dataclass(frozen=True, slots=True)
class IdleTrace:
    """A trace, and when something was last written to it."""

    trace: Trace
    written_at: datetime


class IdlePosition(NamedTuple):
    """A place in the list: microseconds since 1970 in UTC, and an id; the empty id comes before all others."""

    at: int
    id: str


BEFORE_ALL = IdlePosition(0, "")


def end_of_list(until: datetime, before: datetime | None, oldest_kept: IdlePosition | None) -> IdlePosition:
    """The place before which traces are idle.

    Args:
        until: a trace that was written to since then is not idle, whatever the other bounds say.
        before: a trace that was last written to before this is idle.
        oldest_kept: the oldest of the traces that are kept for their rank; those before it are idle.
    """
    bounds = [] if before is None else [_place_of(before)]
    if oldest_kept is not None:
        bounds.append(oldest_kept)
    return min(_place_of(until), max(bounds, default=BEFORE_ALL))


def read_place(cursor: str | None) -> IdlePosition:
    """The place after which a page begins.

    Raises:
        InputError: it is no cursor of this list.
    """
    if cursor is None:
        return BEFORE_ALL
    found = _CURSOR.fullmatch(cursor)
    if not found:
        raise InputError("cursor", "", f"{cursor[:80]!r} is not a cursor of this list")
    return IdlePosition(int(found[1]), found[2])


def idle_page(places: Sequence[IdlePosition], first: int, traces: Iterable[Trace]) -> Page[IdleTrace]:
    """A page of the first places. If there is one more than asked for, there is a next page."""
    found = {trace.id: trace for trace in traces}
    items = []
    for place in places[:first]:
        written_at = from_microseconds(place.at)
        # A trace that was deleted since it was listed is left out.
        if place.id in found and written_at is not None:
            items.append(IdleTrace(found[place.id], written_at))
    more = f"{places[first - 1].at}:{places[first - 1].id}" if len(places) > first > 0 else None
    return Page(items, more)


def _place_of(moment: datetime) -> IdlePosition:
    at = to_microseconds(moment)
    assert at is not None
    return IdlePosition(at, "")
