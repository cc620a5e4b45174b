"""Pages of filtered and sorted failures.

The texts take a filter as the parameter ``wanted``, and the beginning of a page as the parameter ``bounds``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, cast

from schema.kinds import HUMAN_METHOD, ErrorType
from schema.models import Failure, camel_case
from schema.times import from_microseconds, to_microseconds
from store.contract.answers import ALL_FAILURES, FailureFilter, FailureKey, FailureOrder, Label, Page
from store.neo4j.queries import Sorting
from store.neo4j.read import AFTER_ALL_IDS, FIRST_ID, ID_CURSOR, Reader, cursor_in, page_of
from store.shared.failure_cursor import Key, cursor_at, place_after

_BEFORE_ALL_IDS = ""
_ENDS: Mapping[FailureKey, tuple[Any, Any]] = {
    FailureKey.TIME: (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)),
    FailureKey.CONFIDENCE: (-1.0, 2.0),
}
"""A key before all keys, and a key after all keys."""

_FIRST_MICROSECOND, _LAST_MICROSECOND = (to_microseconds(one) or 0 for one in _ENDS[FailureKey.TIME])

Row = tuple[Key, str]
"""The sorting key and the id of a failure."""


async def failures(
    reader: Reader,
    trace_id: str | None,
    first: int,
    after: str | None,
    wanted: FailureFilter,
    order: FailureOrder | None,
) -> Page[Failure]:
    """A page of the wanted failures; without an ``order``, by trace and id."""
    if order is None and trace_id is not None and wanted == ALL_FAILURES:
        return cast("Page[Failure]", await reader.page(Label.FAILURE, trace_id, first, after, (), (), 0))
    if order is not None:
        key, last = place_after(after, order)
        rows = await _Sorted(reader, order, wanted).rows(trace_id, key, last, first + 1)
        here = rows[:first]
        found = await reader.get(Label.FAILURE, [id_ for _, id_ in here])
        return Page(found, cursor_at(order, *here[-1]) if len(rows) > first else None)
    place, last_id = cursor_in(ID_CURSOR, after, FIRST_ID)
    if trace_id is not None and trace_id > str(place):
        place, last_id = trace_id, ""
    bounds = {"place": place, "last": last_id, "lastTrace": AFTER_ALL_IDS if trace_id is None else trace_id}
    keys = await reader.items("page_failure", bounds=bounds, wanted=_said(wanted), count=first + 1)
    found = await reader.get(Label.FAILURE, [id_ for _, id_ in keys[:first]])
    return page_of(keys, first, {failure.id: failure for failure in found})


async def count_failures(reader: Reader, trace_id: str | None, wanted: FailureFilter) -> int:
    """The number of wanted failures, of one trace or of all."""
    judged = trace_id is None and wanted == FailureFilter(labelled=True, without=wanted.without)
    text = "count_judged" if judged else "count_failures"
    rows = await reader.rows(text, bounds={"traceId": trace_id}, wanted=_said(wanted))
    count: int = rows[0][0]
    return count


def _said(wanted: FailureFilter) -> dict[str, Any]:
    """The parameter of the texts for a filter."""
    return {camel_case(name): value for name, value in asdict(wanted).items()} | {
        "text": None if wanted.text is None else wanted.text.lower(),
        "without": sorted(wanted.without),
        "asksVerdicts": wanted.asks_verdicts,
        "human": HUMAN_METHOD,
    }


def _number_of(name: str, names: Sequence[str]) -> float:
    """The index of a name in sorted names; for a missing name, a number between its neighbours' indexes."""
    place = bisect_left(names, name)
    return place if place < len(names) and names[place] == name else place - 0.5


class _Sorted:
    """Reads failures in one order: first the failures with a key, then the failures without."""

    def __init__(self, reader: Reader, order: FailureOrder, wanted: FailureFilter) -> None:
        self._reader = reader
        self._order = order
        self._wanted = _said(wanted)
        self._about = Sorting.of(order)

    async def rows(self, trace_id: str | None, key: Key, last: str | None, count: int) -> list[Row]:
        """Up to ``count`` failures after a key and an id; ``last`` None is the beginning."""
        if trace_id is not None:
            return await self._of_trace(trace_id, key, last, count)
        rows = [] if last is not None and key is None else await self._keyed(key, last, count)
        if len(rows) < count:
            begin = last if last is not None and key is None else self._start
            rows += await self._ask("page_failure_without", count - len(rows), by=self._order.by.value, last=begin)
        return rows

    @property
    def _start(self) -> str:
        """A text before all ids in this order."""
        return AFTER_ALL_IDS if self._order.descending else _BEFORE_ALL_IDS

    async def _keyed(self, key: Key, last: str | None, count: int) -> list[Row]:
        by = self._order.by
        if by in _ENDS:
            place = _ENDS[by][self._order.descending] if last is None else key
            if by is FailureKey.TIME and last is not None:
                place = from_microseconds(max(_FIRST_MICROSECOND, min(int(key or 0), _LAST_MICROSECOND)))
            return await self._ask(f"page_failure_by_{by.value}", count, place=place, last=last)
        places = self._places(await self._names(None))
        # The cursor's name may have been deleted meanwhile.
        left = [name for name in places if last is None or not self._is_before(name, key)]
        said = {"places": places, "names": left, "key": key, "last": last, "start": self._start}
        return await self._ask("page_failure_by_name", count, **said)

    async def _of_trace(self, trace_id: str, key: Key, last: str | None, count: int) -> list[Row]:
        names: list[str] = []
        said: Any = key
        if self._order.by is FailureKey.OPERATION:
            # The server compares texts differently, so the few names are replaced by numbers.
            names = sorted(await self._names(trace_id))
            said = None if key is None else _number_of(str(key), names)
        places = {name: place for place, name in enumerate(names)}
        bounds = {"traceId": trace_id, "by": self._order.by.value, "key": said, "last": last, "places": places}
        rows = await self._ask("page_failure_sorted", count, **bounds)
        return [(names[end] if names and isinstance(end, int) else end, id_) for end, id_ in rows]

    async def _names(self, trace_id: str | None) -> list[str]:
        """All texts that failures can be sorted by, unordered."""
        if self._order.by is FailureKey.ERROR_TYPE:
            return [one.value for one in ErrorType]
        if trace_id is None:
            return await self._reader.items("blamed_names")
        return await self._reader.items("blamed_names_of_trace", traceId=trace_id)

    def _places(self, names: list[str]) -> dict[str, int]:
        """The index of each name in this order."""
        return {name: place for place, name in enumerate(sorted(names, reverse=self._order.descending))}

    def _is_before(self, name: str, key: Key) -> bool:
        return name > str(key) if self._order.descending else name < str(key)

    async def _ask(self, name: str, count: int, /, **bounds: Any) -> list[Row]:
        rows = await self._reader.items(name, self._about, bounds=bounds, wanted=self._wanted, count=count)
        return [(key, id_) for key, id_ in rows]
