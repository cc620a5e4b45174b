"""Reads elements of one project: by id, reference or page, and the relationships of elements."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import Any

from schema.errors import InputError
from schema.ids import ID_LENGTH
from schema.kinds import HUMAN_METHOD, DerivationKind
from schema.models import Attribution, Derivation, Element, Invalidation, Operation, Trace, Usage, Variable
from schema.times import from_microseconds
from store.contract.answers import (
    ALWAYS,
    IN_ORDER,
    Activity,
    Direction,
    Edge,
    Label,
    OperationDetail,
    Page,
    Period,
    Span,
    Stored,
    VerdictGroup,
    in_order_of_size,
)
from store.contract.idle import IdlePosition, IdleTrace, end_of_list, idle_page, read_place
from store.neo4j.connection import Connection, Read
from store.neo4j.rows import external_key, read_rows
from store.shared.resolving import MOST_CANDIDATES, check_reference, in_place, is_prefix, is_whole_id, only_one
from store.shared.timeline import Stretches

_IDS_A_READ = 10_000
FIRST_ID = "0" * ID_LENGTH
AFTER_ALL_IDS = "g"
_BEFORE_ALL = -(10**18)
_DERIVATION_KINDS = {kind.value: kind for kind in DerivationKind}
_NEVER = datetime.min.replace(tzinfo=UTC)
_NUMBER_CURSOR = re.compile(rf"(-?\d{{1,18}}):([0-9a-f]{{{ID_LENGTH}}})", re.ASCII)
ID_CURSOR = re.compile(f"([0-9a-f]{{{ID_LENGTH}}}):([0-9a-f]{{{ID_LENGTH}}})")


class Reader:
    """The reading methods of one project's store; see ``GraphStore``."""

    def __init__(self, connection: Connection, project_id: str) -> None:
        self._connection = connection
        self._project_id = project_id

    @property
    def project_id(self) -> str:
        """The project of all calls."""
        return self._project_id

    async def rows(self, name: str, about: StrEnum | None = None, /, **parameters: Any) -> list[list[Any]]:
        """The rows of a text, with the project bound."""
        return await self._connection.read(name, about, projectId=self.project_id, **parameters)

    async def items(self, name: str, about: StrEnum | None = None, /, **parameters: Any) -> list[Any]:
        """The items of a text that returns lists, with the project bound."""
        return await self._connection.read_list(name, about, projectId=self.project_id, **parameters)

    async def get(self, label: Label, ids: Iterable[str]) -> list[Any]:
        """Elements in the order of their ids; unknown ids are left out."""
        asked = list(ids)
        found: dict[str, Element] = {}
        for part in parts_of(dict.fromkeys(asked)):
            rows = await self.items(getter(label), label, ids=part)
            found.update((element.id, element) for element in read_rows(label, rows))
        return [found[id_] for id_ in asked if id_ in found]

    async def trace_begun(self, trace_id: str) -> bool:
        """Whether anything of a trace is stored, even if it is not listed yet."""
        return bool((await self.rows("trace_begun", traceId=trace_id))[0][0])

    async def resolve(self, reference: str, label: Label | None = None, trace_id: str | None = None) -> Element:
        """The element that a reference means; see ``store.shared.resolving``."""
        check_reference(reference, label)
        asked: dict[str, Any] = {"reference": reference, "label": None, "traceId": None}
        count = MOST_CANDIDATES + 1
        if is_whole_id(reference):
            # Most references are whole ids, so these are looked up first.
            found = await self.get(label, [reference]) if label else []
            found = found or await self._elements(await self.rows("resolve_prefix", asked=asked, count=count))
            if found:
                return in_place(found, reference, label, trace_id)
        asked |= {"label": label, "traceId": trace_id, "key": external_key(self.project_id, reference)}
        rows = await self.rows("resolve_external", asked=asked, count=count)
        if is_prefix(reference):
            rows += await self.rows("resolve_prefix", asked=asked, count=count)
        return only_one(await self._elements(rows), reference, label)

    async def _elements(self, rows: Iterable[list[str]]) -> list[Any]:
        """Elements by label and id, in the order of the labels."""
        ids: dict[str, list[str]] = {}
        for name, id_ in rows:
            ids.setdefault(name, []).append(id_)
        return [element for label in Label if label in ids for element in await self.get(label, ids[label])]

    async def page(
        self,
        label: Label,
        trace_id: str,
        first: int = 1000,
        after: str | None = None,
        kinds: Collection[str] = (),
        statuses: Collection[str] = (),
        since: int = 0,
        when: Span = ALWAYS,
    ) -> Page[Element]:
        """A page of elements of a trace, in the order of the trace."""
        return (await self._pages(label, [trace_id], first, after, kinds, statuses, since, when))[trace_id]

    async def pages(
        self,
        label: Label,
        trace_ids: Sequence[str],
        first: int = 100,
        after: str | None = None,
        kinds: Collection[str] = (),
        statuses: Collection[str] = (),
        since: int = 0,
        when: Span = ALWAYS,
    ) -> dict[str, Page[Element]]:
        """A page of each trace, by trace id."""
        known = [id_ for part in parts_of(trace_ids) for id_ in await self.items("known_traces", ids=part)]
        return await self._pages(label, list(dict.fromkeys(known)), first, after, kinds, statuses, since, when)

    async def _pages(
        self,
        label: Label,
        trace_ids: Sequence[str],
        first: int,
        after: str | None,
        kinds: Collection[str],
        statuses: Collection[str],
        since: int,
        when: Span = ALWAYS,
    ) -> dict[str, Page[Any]]:
        parameters: dict[str, Any] = {"traceIds": trace_ids, "count": first + 1}
        if label is Label.FAILURE:
            parameters["place"], parameters["last"] = cursor_in(ID_CURSOR, after, FIRST_ID)
            listed = dict(await self.items("page_failure_of_trace", **parameters))
            ids = [id_ for keys in listed.values() for _, id_ in keys[:first]]
            found = {element.id: element for element in await self.get(label, ids)}
            return {id_: page_of(keys, first, found) for id_, keys in listed.items()}
        place, parameters["last"] = cursor_in(_NUMBER_CURSOR, after, since)
        parameters["place"] = int(place)
        if label is not Label.SESSION:
            parameters["kinds"] = sorted(kinds) or None
        if label is Label.OPERATION:
            parameters["statuses"] = sorted(statuses) or None
        if label in {Label.OPERATION, Label.VARIABLE}:
            parameters |= {"begin": when.since, "end": when.until}
        pages = await self.items(f"page_{label.lower()}", label, **parameters)
        return {id_: _whole_page(read_rows(label, rows), first) for id_, rows in pages}

    async def traces(self, first: int = 100, after: str | None = None) -> Page[Trace]:
        """A page of traces, by time of creation and id."""
        place, last = cursor_in(_NUMBER_CURSOR, after, _BEFORE_ALL)
        keys = await self.items("page_trace", place=int(place), last=last, count=first + 1)
        found = await self.get(Label.TRACE, [id_ for _, id_ in keys[:first]])
        return page_of(keys, first, {trace.id: trace for trace in found})

    async def activity(self, trace_id: str, width: int) -> list[Activity]:
        """Operations counted by kind and status, in stretches of a trace."""
        rows = await self.items("activity", traceId=trace_id, width=max(1, width))
        return [
            Activity(number, kind, status, count, micros / 1e6, from_microseconds(last))
            for number, kind, status, count, micros, last in rows
        ]

    async def verdict_groups(self, trace_id: str | None = None) -> list[VerdictGroup]:
        """Failures counted by method, error type and blamed operation of their verdicts."""
        groups = await self.items("verdict_groups", traceId=trace_id, wanted={"human": HUMAN_METHOD})
        return in_order_of_size(VerdictGroup(*row) for row in groups)

    async def attributions(self, failure_ids: Sequence[str]) -> list[Attribution]:
        """All verdicts on some failures, oldest first."""
        ids: list[str] = []
        for part in parts_of(dict.fromkeys(failure_ids)):
            ids += await self.items("attributions_of_failures", ids=part)
        found = await self.get(Label.ATTRIBUTION, ids)
        return sorted(found, key=lambda a: (a.created_at or _NEVER, a.id))

    async def operations(self, operation_ids: Sequence[str]) -> dict[str, OperationDetail]:
        """Operations with their used, generated and invalidated variables, by id."""
        rows = await self._rows_of("operation_detail", operation_ids)
        operations = {o.id: o for o in await self.get(Label.OPERATION, (row[0] for row in rows))}
        linked = dict.fromkeys(id_ for row in rows for ids in row[1:] for id_ in ids)
        variables: dict[str, Variable] = {v.id: v for v in await self.get(Label.VARIABLE, linked)}
        return {
            id_: OperationDetail(operations[id_], *([variables[one] for one in dict.fromkeys(ids)] for ids in lists))
            for id_, *lists in rows
        }

    async def derivations_of(
        self, variable_ids: Sequence[str], direction: Direction = Direction.BACKWARD, first: int = 100
    ) -> dict[str, list[Derivation]]:
        """The first derivations of each variable, by the variable's id."""
        rows = await self._rows_of("derivations_of", variable_ids, direction, count=first)
        return await self._lists(Label.DERIVATION, rows)

    async def users_of(self, variable_ids: Sequence[str], first: int = 100) -> dict[str, list[Operation]]:
        """The first operations that used each variable, by the variable's id."""
        return await self._lists(Label.OPERATION, await self._rows_of("users_of", variable_ids, count=first))

    async def counts(self, trace_ids: Sequence[str]) -> dict[str, dict[str, int]]:
        """Counts by label, by trace id."""
        rows = await self._rows_of("count_by_trace", trace_ids)
        labels = [label.value for label in Label]
        return {id_: dict(zip(labels, numbers, strict=True)) for id_, *numbers in rows}

    async def edges(self, trace_id: str) -> list[Edge]:
        """All derivations of a trace as edges."""
        rows = await self.items("edges", traceId=trace_id)
        return [Edge(source, target, maker, _DERIVATION_KINDS[kind]) for source, target, maker, kind in rows]

    async def usages(self, trace_id: str) -> list[Usage]:
        """All usages of a trace."""
        return [Usage(*row) for row in await self.items("usages", traceId=trace_id)]

    async def stored(self, trace_id: str, ids: Mapping[Label, Sequence[str]]) -> Stored:
        """The stored part of a trace; see ``GraphStore.stored``."""

        async def look(read: Read) -> Stored:
            async def get(label: Label, wanted: Iterable[str]) -> dict[str, Any]:
                parts = parts_of(wanted)
                rows = [row for part in parts for row in await items(getter(label), label, ids=part)]
                return {element.id: element for element in read_rows(label, rows)}

            async def items(name: str, about: StrEnum | None = None, **parameters: Any) -> list[Any]:
                rows = await read(name, about, projectId=self.project_id, **parameters)
                return [item for row in rows for item in row[0]]

            last = await items("next_sequences", traceId=trace_id)
            next_ = {label: found[0] + 1 if found else 0 for label, found in zip(IN_ORDER, last, strict=True)}
            trace = (await get(Label.TRACE, [trace_id])).get(trace_id)
            # A next place of 0 means that no element of the label is stored.
            found = {label: await get(label, dict.fromkeys(wanted)) for label, wanted in ids.items() if next_[label]}
            return Stored(trace, next_, found)

        return await self._connection.read_together(look)

    async def invalidations(self, trace_id: str) -> list[Invalidation]:
        """All invalidations of a trace."""
        return [Invalidation(*row) for row in await self.items("invalidations", traceId=trace_id)]

    async def versions_of(self, variable_ids: Sequence[str]) -> dict[str, list[Variable]]:
        """All versions of each variable's name, by the variable's id."""
        return await self._lists(Label.VARIABLE, await self._rows_of("versions", variable_ids))

    async def timeline(self, since: datetime, until: datetime, seconds: int) -> list[Period]:
        """Counts of new elements in each stretch of ``seconds`` seconds."""
        stretches = Stretches.between(since, until, seconds)
        bounds = {"since": from_microseconds(stretches.start), "until": from_microseconds(stretches.end)}
        return stretches.periods(await self.items("timeline", start=stretches.start, width=stretches.width, **bounds))

    async def idle_traces(
        self,
        until: datetime,
        before: datetime | None = None,
        keep: int | None = None,
        first: int = 100,
        after: str | None = None,
    ) -> Page[IdleTrace]:
        """A page of idle traces."""
        start = read_place(after)
        kept = [] if keep is None else await self.items("written_in_order", skip=keep - 1)
        end = end_of_list(until, before, IdlePosition(*kept[0]) if kept else None)
        keys = await self.items(
            "page_idle_trace",
            at=from_microseconds(start.at),
            last=start.id,
            until=from_microseconds(end.at),
            untilId=end.id,
            count=max(first, 0) + 1,
        )
        places = [IdlePosition(*key) for key in keys]
        found = await self.get(Label.TRACE, [place.id for place in places[:first]])
        return idle_page(places, first, found)

    async def _rows_of(
        self, name: str, ids: Iterable[str], about: StrEnum | None = None, **parameters: Any
    ) -> list[Any]:
        """The rows of a text that takes ids and returns at most one row for each id, in the order of the ids."""
        parts = parts_of(dict.fromkeys(ids))
        return [row for part in parts for row in await self.items(name, about, ids=part, **parameters)]

    async def _lists(self, label: Label, rows: Sequence[tuple[str, list[str]]]) -> dict[str, list[Any]]:
        """Lists of elements, from rows of (id, ids of its elements)."""
        wanted = dict.fromkeys(id_ for _, ids in rows for id_ in ids)
        found = {element.id: element for element in await self.get(label, wanted)}
        return {id_: [found[one] for one in ids] for id_, ids in rows}


def getter(label: Label) -> str:
    """The text that gets elements of a label by their ids."""
    return "get_derivations" if label is Label.DERIVATION else "get_nodes"


def page_of(keys: Sequence[Any], first: int, found: Mapping[str, Any]) -> Page[Any]:
    """The page of the first ``first`` keys (place, id); a further key means that a next page exists."""
    here = keys[:first]
    more = f"{here[-1][0]}:{here[-1][1]}" if here and len(keys) > first else None
    return Page([found[id_] for _, id_ in here if id_ in found], more)


def _whole_page(found: list[Any], first: int) -> Page[Any]:
    """The page of the first ``first`` elements; a further element means that a next page exists."""
    here = found[:first]
    return Page(here, f"{here[-1].sequence}:{here[-1].id}" if here and len(found) > first else None)


def parts_of(ids: Iterable[str]) -> Iterator[list[str]]:
    """The ids in lists that are short enough for one read."""
    remaining = iter(ids)
    while part := list(islice(remaining, _IDS_A_READ)):
        yield part


def cursor_in(form: re.Pattern[str], cursor: str | None, start: str | int) -> tuple[str | int, str]:
    """The place and the id after which a page begins."""
    if cursor is None:
        return start, ""
    found = form.fullmatch(cursor)
    if not found:
        raise InputError("cursor", "", f"{cursor[:80]!r} is not a cursor of this list")
    return found[1], found[2]
