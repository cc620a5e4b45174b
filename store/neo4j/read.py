"""Selecting elements of one project: by id, external id, page, operation and name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from schema.errors import AmbiguousError, InputError, NotFoundError
from schema.ids import ID_LENGTH, MIN_PREFIX
from schema.models import Attribution, Element, Failure, Invalidation, Trace, Usage, Variable
from store.neo4j.connection import Connection
from store.neo4j.rows import external_key, read_rows
from store.protocol import Label, OperationDetail, Page

_CANDIDATES = 5
_IDS_A_READ = 10_000
_FIRST_ID = "0" * ID_LENGTH
_BEFORE_ALL = -(10**18)
_NEVER = datetime.min.replace(tzinfo=UTC)
_PREFIX = re.compile(f"[0-9a-f]{{{MIN_PREFIX},{ID_LENGTH}}}")
_NUMBER_CURSOR = re.compile(rf"(-?\d{{1,18}}):([0-9a-f]{{{ID_LENGTH}}})", re.ASCII)
_ID_CURSOR = re.compile(f"([0-9a-f]{{{ID_LENGTH}}}):([0-9a-f]{{{ID_LENGTH}}})")


class Reader:
    """Reads elements of one project."""

    def __init__(self, connection: Connection, project_id: str) -> None:
        self._connection = connection
        self.project_id = project_id

    async def rows(self, name: str, /, **parameters: Any) -> list[list[Any]]:
        """The rows of a text, with the project bound."""
        return await self._connection.read(name, projectId=self.project_id, **parameters)

    async def items(self, name: str, /, **parameters: Any) -> list[Any]:
        """The items of a text that returns lists, with the project bound."""
        return await self._connection.read_list(name, projectId=self.project_id, **parameters)

    async def get(self, label: Label, ids: Iterable[str]) -> list[Any]:
        """See ``GraphStore.get``."""
        asked = list(ids)
        found: dict[str, Element] = {}
        for part in parts_of(dict.fromkeys(asked)):
            rows = await self.items(f"get_{label.lower()}", ids=part)
            found.update((element.id, element) for element in read_rows(label, rows))
        return [found[id_] for id_ in asked if id_ in found]

    async def trace_begun(self, trace_id: str) -> bool:
        """Whether anything of a trace is stored, listed or not."""
        return bool((await self.rows("trace_begun", traceId=trace_id))[0][0])

    async def resolve(self, reference: str, label: Label | None, trace_id: str | None) -> Element:
        """See ``GraphStore.resolve``."""
        parameters = {
            "reference": reference,
            "label": label,
            "traceId": trace_id,
            "count": _CANDIDATES + 1,
        }
        key = external_key(self.project_id, reference)
        found = await self.rows("resolve_external", key=key, **parameters)
        if _PREFIX.fullmatch(reference):
            named = {one for one, _ in found}
            found += [row for row in await self.rows("resolve_prefix", **parameters) if row[0] not in named]
        if not found:
            raise NotFoundError(reference, label or "")
        if len(found) > 1:
            raise AmbiguousError(reference, [id_ for _, id_ in found[:_CANDIDATES]])
        ((name, id_),) = found
        elements: list[Element] = await self.get(Label(name), [id_])
        if not elements:
            raise NotFoundError(reference, label or "")
        return elements[0]

    async def page(
        self, label: Label, trace_id: str, first: int, after: str | None, kinds: Collection[str]
    ) -> Page[Element]:
        """See ``GraphStore.page``."""
        place, last = _cursor(_NUMBER_CURSOR, after, _BEFORE_ALL)
        parameters: dict[str, Any] = {} if label is Label.SESSION else {"kinds": sorted(kinds) or None}
        keys = await self.items(
            f"page_{label.lower()}", traceId=trace_id, place=int(place), last=last, count=first + 1, **parameters
        )
        return await self._page(label, keys, first)

    async def traces(self, first: int, after: str | None) -> Page[Trace]:
        """See ``GraphStore.traces``."""
        place, last = _cursor(_NUMBER_CURSOR, after, _BEFORE_ALL)
        keys = await self.items("page_trace", place=int(place), last=last, count=first + 1)
        return await self._page(Label.TRACE, keys, first)

    async def failures(self, trace_id: str | None, first: int, after: str | None) -> Page[Failure]:
        """See ``GraphStore.failures``."""
        place, last = _cursor(_ID_CURSOR, after, trace_id or _FIRST_ID)
        keys = await self.items("page_failure", traceId=trace_id, place=place, last=last, count=first + 1)
        return await self._page(Label.FAILURE, keys, first)

    async def _page(self, label: Label, keys: Sequence[Any], first: int) -> Page[Any]:
        here = keys[:first]
        items = await self.get(label, [id_ for _, id_ in here])
        more = f"{here[-1][0]}:{here[-1][1]}" if here and len(keys) > first else None
        return Page(items, more)

    async def attributions(self, failure_ids: Sequence[str]) -> list[Attribution]:
        """See ``GraphStore.attributions``."""
        ids: list[str] = []
        for part in parts_of(dict.fromkeys(failure_ids)):
            ids += await self.items("attributions_of_failures", ids=part)
        found = await self.get(Label.ATTRIBUTION, ids)
        return sorted(found, key=lambda a: (a.created_at or _NEVER, a.id))

    async def operation(self, operation_id: str) -> OperationDetail:
        """See ``GraphStore.operation``."""
        rows = await self.rows("operation_detail", id=operation_id)
        operations = await self.get(Label.OPERATION, [operation_id])
        if not rows or not operations:
            raise NotFoundError(operation_id, Label.OPERATION)
        variables: dict[str, Variable] = {v.id: v for v in await self.get(Label.VARIABLE, {*chain(*rows[0])})}
        used, generated, invalidated = (
            [variables[id_] for id_ in dict.fromkeys(ids) if id_ in variables] for ids in rows[0]
        )
        return OperationDetail(operations[0], used, generated, invalidated)

    async def usages(self, trace_id: str) -> list[Usage]:
        """See ``GraphStore.usages``."""
        return [Usage(*row) for row in await self.items("usages", traceId=trace_id)]

    async def invalidations(self, trace_id: str) -> list[Invalidation]:
        """See ``GraphStore.invalidations``."""
        return [Invalidation(*row) for row in await self.items("invalidations", traceId=trace_id)]

    async def versions(self, variable_id: str) -> list[Variable]:
        """See ``GraphStore.versions``."""
        ids = await self.items("versions", id=variable_id)
        if not ids:
            raise NotFoundError(variable_id, Label.VARIABLE)
        return await self.get(Label.VARIABLE, ids)


def parts_of(ids: Iterable[str]) -> Iterator[list[str]]:
    """Ids in lists that one read can take and answer."""
    remaining = iter(ids)
    while part := list(islice(remaining, _IDS_A_READ)):
        yield part


def _cursor(form: re.Pattern[str], cursor: str | None, start: str | int) -> tuple[str | int, str]:
    """The place and the id after which a page begins."""
    if cursor is None:
        return start, ""
    found = form.fullmatch(cursor)
    if not found:
        raise InputError("cursor", "", f"{cursor[:80]!r} is not a cursor of this list")
    return found[1], found[2]
