"""Elements across the traces of a project: trace by trace, as many traces as one request may look at."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

import msgspec

from schema.errors import InputError
from schema.models import Operation, Variable
from schema.outside_json import JsonError, read_json
from store.contract.answers import ALWAYS, Label, Page, Span
from store.contract.protocol import GraphStore

E = TypeVar("E", Operation, Variable)

MOST_TRACES = 100
"""Largest number of traces that are read for a page. A short page may therefore have a next page."""


class _Place(msgspec.Struct, array_like=True, frozen=True):
    """Where a page begins: the cursor before a trace, and the one before an element in it."""

    trace: str | None = None
    element: str | None = None


async def across_traces(
    store: GraphStore,
    model: type[E],
    first: int,
    after: str | None,
    kinds: Collection[str] = (),
    statuses: Collection[str] = (),
    when: Span = ALWAYS,
) -> Page[E]:
    """A page of elements, by trace and by place in it.

    Args:
        store: the project's.
        model: which elements.
        first: how many at most.
        after: the cursor of the page before.
        kinds: only these; all if empty.
        statuses: only operations that ended so; all if empty.
        when: only what was recorded in this time.

    Raises:
        InputError: the cursor is none of this list.
    """
    place = _place_of(after)
    found: list[E] = []
    for _ in range(MOST_TRACES):
        traces = await store.traces(1, place.trace)
        for trace in traces.items:
            left = first - len(found)
            page = await store.page(Label(model.__name__), trace.id, left, place.element, kinds, statuses, when=when)
            found += [one for one in page.items if isinstance(one, model)]
            if page.next is not None:
                return Page(found, _cursor(_Place(place.trace, page.next)))
        if traces.next is None:
            return Page(found, None)
        place = _Place(traces.next)
        if len(found) == first:
            break
    return Page(found, _cursor(place))


def _cursor(place: _Place) -> str:
    return msgspec.json.encode(place).decode()


def _place_of(cursor: str | None) -> _Place:
    if cursor is None:
        return _Place()
    try:
        return read_json(cursor, _Place)
    except JsonError:
        raise InputError("after", "", f"{cursor[:80]!r} is not a cursor of this list") from None
