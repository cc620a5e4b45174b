"""The failures of a project: a table, and filters that stand in its address."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import Response, StreamingResponse

from api.http.files import attachment
from api.web.pages.overview import methods_of
from api.web.pages.recent import Recent
from api.web.pages.shown import PageRequest, Shown
from api.web.pages.words import ERROR_TYPES, QUESTION_KINDS
from attribution.verdicts.verdict import Method
from schema.control import Role
from store.contract.answers import FailureKey

_CHOICES: Recent[list[dict[str, Any]]] = Recent(256, 15)
"""What the filters offer. To count it looks at all verdicts of a project, and the next page offers the same."""

_UNDECIDED = "none"
_LABELLED = {"yes": True, "no": False}
_SURE: dict[str, tuple[float | None, float | None]] = {
    "low": (None, 0.5),
    "middle": (0.5, 0.8),
    "high": (0.8, None),
}
"""The least and greatest confidence that each choice of the page means; verdicts on a boundary are in both."""
SURE = {"low": "at most 50% sure", "middle": "50% to 80% sure", "high": "at least 80% sure"}
WAYS = {
    Method.FLOW: "the free pass: no language model",
    Method.AUTO: "the free pass, and a language model where it is unsure",
}
"""How failures are attributed from a page; what else there is needs settings that belong to a command."""

FILTERS = ("text", "type", "operation", "kind", "method", "labelled", "sure", "trace")
_SORT = "sort"
_DOWN = "-"
"""Before the name of what failures are sorted by, the largest first."""
_SORTS = {
    FailureKey.TIME: ("Recorded", "oldest first", "newest first"),
    FailureKey.CONFIDENCE: ("How sure", "least sure first", "surest first"),
    FailureKey.ERROR_TYPE: ("Error type", "A to Z", "Z to A"),
    FailureKey.OPERATION: ("Operation at fault", "A to Z", "Z to A"),
}
"""What failures can be sorted by, and both directions in words; of the time the newest come first at first."""


async def failures(asked: PageRequest) -> Shown:
    """A page of failures."""
    said = _said(asked)
    order = order_of(said[_SORT])
    found = await asked.viewer.ask_project(
        "failures", asked.project, after=asked.said("after"), trace=said["trace"], filter=filter_of(said), order=order
    )
    one = found["project"]
    rows = one["failures"]["nodes"]
    live = len({row["trace"]["id"] for row in rows if row["trace"] and row["trace"]["isLive"]})
    groups = await _groups(asked, said["trace"])
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
        "is_first": asked.said("after") is None,
        "is_filtered": any(said[name] for name in FILTERS),
        "ways": WAYS,
        "sure": SURE,
        "may_write": Role(one["role"]).allows(Role.WRITER),
    }
    return Shown("failures", values)


async def saved(asked: PageRequest) -> Response:
    """The failures that a filter wants, with all verdicts that the viewer may see: a line of JSON each."""
    said = _said(asked)
    order = order_of(said[_SORT])

    async def page(after: str | None) -> dict[str, Any]:
        found = await asked.viewer.ask_project(
            "failures_saved", asked.project, after=after, trace=said["trace"], filter=filter_of(said), order=order
        )
        failures: dict[str, Any] = found["project"]["failures"]
        return failures

    first = await page(None)  # what is wrong with the address is told, and not the beginning of a file

    async def lines() -> AsyncIterator[str]:
        there = first
        while True:
            for one in there["nodes"]:
                yield f"{json.dumps(one)}\n"
            after = there["pageInfo"]["endCursor"]
            if after is None:
                return
            there = await page(after)

    headers = attachment(f"{asked.project}.failures.jsonl")
    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=headers)


async def _groups(asked: PageRequest, trace: str | None) -> list[dict[str, Any]]:
    """How many failures there are of each kind, as the viewer may know it; a new kind may take a while to be there."""
    context = asked.viewer.context

    async def ask() -> list[dict[str, Any]]:
        found = await asked.viewer.ask_project("failure_choices", asked.project, trace=trace)
        groups: list[dict[str, Any]] = found["project"]["verdictGroups"]
        return groups

    key = (context.platform.settings.store, asked.project, trace, context.access.principal.actor)
    return await _CHOICES.get(key, ask)


def _said(asked: PageRequest) -> dict[str, str | None]:
    """What the address says of which failures, and in which order; an order that means nothing is left out."""
    said = {name: asked.said(name) for name in (*FILTERS, _SORT)}
    return said if order_of(said[_SORT]) else said | {_SORT: None}


def order_of(said: str | None) -> dict[str, Any] | None:
    """The order that an address names, as the document takes it; None where it names none."""
    name = (said or "").removeprefix(_DOWN)
    return {"by": name, "descending": name != said} if name in set(FailureKey) else None


def _sorts(order: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The links by which failures are sorted: each leads to its order, or to the other direction of the present one."""
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
    """What an address says, as the document's filter takes it; words that mean nothing are left out."""
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
    }
