"""Pages of idle traces, which nobody has written to for long.

Traces are listed by the time of the last write and by id. Each write sets the time from the store's clock, whatever
times the recorded elements have, so a trace that is still being recorded is never idle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from schema.errors import InputError
from schema.ids import ID_LENGTH
from schema.models import Trace
from schema.times import from_microseconds, to_microseconds
from store.contract.answers import Page

_CURSOR = re.compile(rf"(\d{{1,17}}):([0-9a-f]{{{ID_LENGTH}}})", re.ASCII)


@dataclass(frozen=True, slots=True)
class IdleTrace:
    """A trace, and the time of the last write to the trace."""

    trace: Trace
    written_at: datetime


class IdlePosition(NamedTuple):
    """A place in the list: microseconds since 1970 in UTC, and an id; the empty id sorts before all ids."""

    at: int
    id: str


BEFORE_ALL = IdlePosition(0, "")


def end_of_list(until: datetime, before: datetime | None, oldest_kept: IdlePosition | None) -> IdlePosition:
    """The place before which traces are idle.

    Args:
        until: a trace written to since this time is never idle.
        before: a trace last written to before this time is idle.
        oldest_kept: the last place of the newest traces, which are kept; traces before this place are idle.
    """
    bounds = [] if before is None else [_place_of(before)]
    if oldest_kept is not None:
        bounds.append(oldest_kept)
    return min(_place_of(until), max(bounds, default=BEFORE_ALL))


def read_place(cursor: str | None) -> IdlePosition:
    """The place after which a page begins.

    Raises:
        InputError: the cursor is not from a list of idle traces.
    """
    if cursor is None:
        return BEFORE_ALL
    found = _CURSOR.fullmatch(cursor)
    if not found:
        raise InputError("cursor", "", f"{cursor[:80]!r} is not a cursor of this list")
    return IdlePosition(int(found[1]), found[2])


def idle_page(places: Sequence[IdlePosition], first: int, traces: Iterable[Trace]) -> Page[IdleTrace]:
    """The page of the first ``first`` places; a further place means that a next page exists."""
    found = {trace.id: trace for trace in traces}
    items = []
    for place in places[:first]:
        written_at = from_microseconds(place.at)
        # A trace may have been deleted since the places were read.
        if place.id in found and written_at is not None:
            items.append(IdleTrace(found[place.id], written_at))
    more = f"{places[first - 1].at}:{places[first - 1].id}" if len(places) > first > 0 else None
    return Page(items, more)


def _place_of(moment: datetime) -> IdlePosition:
    at = to_microseconds(moment)
    assert at is not None
    return IdlePosition(at, "")
