"""The failures of a project: a table, and filters that stand in its address."""

from __future__ import annotations

from typing import Any

from api.web.pages.overview import methods_of
from api.web.pages.recent import Recent
from api.web.pages.shown import PageRequest, Shown
from api.web.pages.words import ERROR_TYPES, QUESTION_KINDS

_CHOICES: Recent[list[dict[str, Any]]] = Recent(256, 15)
"""What the filters offer. To count it looks at all verdicts of a project, and the next page offers the same."""

_UNDECIDED = "none"
_LABELLED = {"yes": True, "no": False}
FILTERS = ("text", "type", "operation", "kind", "method", "labelled", "trace")


async def failures(asked: PageRequest) -> Shown:
    """A page of failures."""
    said = {name: asked.said(name) for name in FILTERS}
    found = await asked.viewer.ask_project(
        "failures", asked.project, after=asked.said("after"), trace=said["trace"], filter=_filter(said)
    )
    one = found["project"]
    groups = await _groups(asked, said["trace"])
    choices = {
        "types": [name for name in ERROR_TYPES if any(group["errorType"] == name for group in groups)],
        "undecided": any(group["errorType"] is None for group in groups),
        "operations": sorted({group["operation"] for group in groups if group["operation"]}),
        "methods": methods_of(groups),
    }
    values = {
        "it": one,
        "rows": one["failures"]["nodes"],
        "more": one["failures"]["pageInfo"]["endCursor"],
        "said": said,
        "choices": choices,
        "is_first": asked.said("after") is None,
        "is_filtered": any(said.values()),
    }
    return Shown("failures", values)


async def _groups(asked: PageRequest, trace: str | None) -> list[dict[str, Any]]:
    """How many failures there are of each kind, as the viewer may know it; a new kind may take a while to be there."""
    context = asked.viewer.context

    async def ask() -> list[dict[str, Any]]:
        found = await asked.viewer.ask_project("failure_choices", asked.project, trace=trace)
        groups: list[dict[str, Any]] = found["project"]["verdictGroups"]
        return groups

    key = (context.platform.settings.store, asked.project, trace, context.access.principal.actor)
    return await _CHOICES.get(key, ask)


def _filter(said: dict[str, str | None]) -> dict[str, Any]:
    """What an address says, as the document's filter takes it; words that mean nothing are left out."""
    kind = said["type"]
    return {
        "text": said["text"],
        "errorType": kind if kind in ERROR_TYPES else None,
        "abstained": True if kind == _UNDECIDED else None,
        "operation": said["operation"],
        "questionKind": said["kind"] if said["kind"] in QUESTION_KINDS else None,
        "method": said["method"],
        "labelled": _LABELLED.get(said["labelled"] or ""),
    }
