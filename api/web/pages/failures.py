"""The list of failures of a project; filters and order are in the address."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, BinaryIO

from starlette.responses import Response, StreamingResponse

from api.http.dependencies import platform_of
from api.http.files import attachment, from_file
from api.http.windows import on_disk
from api.web.pages import words
from api.web.pages.narrowed import DAYS, chips, recorded
from api.web.pages.overview import methods_of
from api.web.pages.recent import Recent
from api.web.pages.shown import PageRequest, Shown
from api.web.pages.words import ERROR_TYPES, QUESTION_KINDS
from attribution.verdicts.verdict import Method
from schema.control import Role
from store.contract.answers import FailureKey

_CHOICES: Recent[list[dict[str, Any]]] = Recent(256, 15)
"""The choices of the filters. Counting them reads all verdicts of a project, so they are kept for the next page."""

_UNDECIDED = "none"
_LABELLED = {"yes": True, "no": False}
_JUDGED = {"yes": "judged by a person", "no": "not yet judged by a person"}
_SURE: dict[str, tuple[float | None, float | None]] = {
    "low": (None, 0.5),
    "middle": (0.5, 0.8),
    "high": (0.8, None),
}
"""The least and greatest confidence of each choice; a verdict exactly on a boundary is in both."""
SURE = {"low": "at most 50% sure", "middle": "50% to 80% sure", "high": "at least 80% sure"}
WAYS = {
    Method.FLOW: "the free pass: no language model",
    Method.WALK: "the free pass, with small judgements by a language model where it is unsure",
    Method.AUTO: "the free pass, and a language model that may explore the graph where it is unsure",
}
"""The methods that a page offers; other methods need settings, so they are only on the command line."""

FILTERS = ("text", "type", "operation", "kind", "method", "labelled", "sure", "trace", *DAYS)
_SAVED_BYTES = 64 << 20
"""The memory that a page of a saved list may take while it is made."""
_SORT = "sort"
_DOWN = "-"
"""The mark before a sort key for descending order."""
_SORTS = {
    FailureKey.TIME: ("Recorded", "oldest first", "newest first"),
    FailureKey.CONFIDENCE: ("How sure", "least sure first", "surest first"),
    FailureKey.ERROR_TYPE: ("Error type", "A to Z", "Z to A"),
    FailureKey.OPERATION: ("Operation at fault", "A to Z", "Z to A"),
}
"""The sort keys with a label and the two directions in words. Sorting by time starts with the newest."""


async def failures(asked: PageRequest) -> Shown:
    """A page of the list."""
    said, groups = await _meant(asked)
    order = order_of(said[_SORT])
    found = await asked.viewer.ask_project(
        "failures", asked.project, after=asked.said("after"), trace=said["trace"], filter=filter_of(said), order=order
    )
    one = found["project"]
    rows = one["failures"]["nodes"]
    live = len({row["trace"]["id"] for row in rows if row["trace"] and row["trace"]["isLive"]})
    choices = {
        "types": [name for name in ERROR_TYPES if any(group["errorType"] == name for group in groups)],
        "undecided": any(group["errorType"] is None for group in groups),
        "operations": sorted({group["operation"] for group in groups if group["operation"]}),
        "methods": methods_of(groups),
    }
    values = {
        "it": one,
        "rows": rows,
        "live": live,
        "follows": live > 0 and asked.said("live") != "0",
        "here": asked.said("after"),
        "sorts": _sorts(order),
        "more": one["failures"]["pageInfo"]["endCursor"],
        "said": said,
        "choices": choices,
        "chips": chips(asked.project, "failures", said, _told(said)),
        "is_first": asked.said("after") is None,
        "is_filtered": any(said[name] for name in FILTERS),
        "ways": WAYS,
        "sure": SURE,
        "may_write": Role(one["role"]).allows(Role.WRITER),
    }
    return Shown("failures", values)


async def saved(asked: PageRequest) -> Response:
    """A file of the failures that the filter selects, a JSON object a line, with the verdicts that the viewer sees."""
    said, _ = await _meant(asked)
    order = order_of(said[_SORT])

    async def page(after: str | None) -> tuple[BinaryIO, str | None]:
        """Writes a page's lines to a file, so that a page is in memory only while the budget is held."""
        async with platform_of(asked.request).copies.budget.hold(_SAVED_BYTES):
            found = await asked.viewer.ask_project(
                "failures_saved", asked.project, after=after, trace=said["trace"], filter=filter_of(said), order=order
            )
            failures: dict[str, Any] = found["project"]["failures"]
            rows = (f"{json.dumps(one)}\n".encode() for one in failures.pop("nodes"))
            return await asyncio.to_thread(on_disk, rows), failures["pageInfo"]["endCursor"]

    first = [await page(None)]  # An error in the address must become an error page, not the beginning of a file.

    async def lines() -> AsyncIterator[bytes]:
        file, after = first.pop()
        while True:
            async for block in from_file(file):
                yield block
            if after is None:
                return
            file, after = await page(after)

    headers = attachment(f"{asked.project}.failures.jsonl")
    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=headers)


async def _groups(asked: PageRequest, trace: str | None) -> list[dict[str, Any]]:
    """Number of failures by method, error type and operation, as far as the viewer may know; up to 15 s old."""
    context = asked.viewer.context

    async def ask() -> list[dict[str, Any]]:
        found = await asked.viewer.ask_project("failure_choices", asked.project, trace=trace)
        groups: list[dict[str, Any]] = found["project"]["verdictGroups"]
        return groups

    key = (context.platform.settings.store, asked.project, trace, context.access.principal.actor)
    return await _CHOICES.get(key, ask)


async def _meant(asked: PageRequest) -> tuple[dict[str, str | None], list[dict[str, Any]]]:
    """The filters and the order in the address, and the groups of the trace in it.

    An error type may be written as ``update``, and an operation as a part of its name that only one operation has.
    """
    said = _said(asked)
    groups = await _groups(asked, said["trace"])
    kind, operation = (said["type"] or "").casefold(), (said["operation"] or "").casefold()
    types = {plain: name for name in ERROR_TYPES for plain in (name.casefold(), name.removesuffix("Error").casefold())}
    names = {group["operation"] for group in groups if group["operation"]}
    alike = [name for name in names if operation and operation in name.casefold()]
    meant = alike[0] if len(alike) == 1 else said["operation"]
    return said | {"type": types.get(kind, said["type"]), "operation": meant}, groups


def _said(asked: PageRequest) -> dict[str, str | None]:
    """The filters and the order in the address; an unknown order is left out."""
    said = {name: asked.said(name) for name in (*FILTERS, _SORT)}
    return said if order_of(said[_SORT]) else said | {_SORT: None}


_ORDERS = {"newest": "-time", "latest": "-time", "oldest": "time", "surest": "-confidence", "type": "errorType"}
"""Orders that people guess in an address."""


def order_of(said: str | None) -> dict[str, Any] | None:
    """The order in the address as GraphQL takes it; None if there is none."""
    said = _ORDERS.get(said or "", said)
    name = (said or "").removeprefix(_DOWN)
    return {"by": name, "descending": name != said} if name in set(FailureKey) else None


def _sorts(order: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Links that sort the list; the link of the current order reverses it."""
    unsorted = {"label": "Trace", "now": None if order else "one after the other", "then": "one trace after the other"}
    links: list[dict[str, Any]] = [{**unsorted, "descending": False, "next": None}]
    for key, (label, up, down) in _SORTS.items():
        is_here = order is not None and order["by"] == key
        descending = is_here and order is not None and order["descending"]
        turns_down = not descending if is_here else key is FailureKey.TIME
        links.append(
            {
                "label": label,
                "now": (down if descending else up) if is_here else None,
                "descending": descending,
                "next": f"{_DOWN if turns_down else ''}{key}",
                "then": f"{down if turns_down else up}",
            }
        )
    return links


def filter_of(said: dict[str, str | None]) -> dict[str, Any]:
    """The filters of an address as GraphQL takes them; unknown words are left out."""
    kind = said["type"]
    least, most = _SURE.get(said["sure"] or "", (None, None))
    return {
        "text": said["text"],
        "errorType": kind if kind in ERROR_TYPES else None,
        "abstained": True if kind == _UNDECIDED else None,
        "operation": said["operation"],
        "questionKind": said["kind"] if said["kind"] in QUESTION_KINDS else None,
        "method": said["method"],
        "labelled": _LABELLED.get(said["labelled"] or ""),
        "minConfidence": least,
        "maxConfidence": most,
        **recorded(said),
    }


def _told(said: dict[str, str | None]) -> dict[str, str]:
    """The filters of an address that are in use, in words."""
    kind = said["type"]
    told = {
        "text": said["text"] and f"“{said['text']}”",
        "type": kind and words.error_type_name(None if kind == _UNDECIDED else kind),
        "operation": said["operation"] and f"at {words.plain(said['operation'])}",
        "kind": said["kind"] and QUESTION_KINDS.get(said["kind"], said["kind"]),
        "method": said["method"] and f"by {words.method(said['method'])}",
        "sure": said["sure"] and SURE.get(said["sure"], said["sure"]),
        "labelled": said["labelled"] and _JUDGED.get(said["labelled"], said["labelled"]),
        "trace": said["trace"] and "one trace",
    }
    return {name: text for name, text in told.items() if text}
