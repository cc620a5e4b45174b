"""The page of one operation: verdicts that blame it, input, output, ended variables, and what a search left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.web.pages import words
from api.web.pages.asking import MissingError
from api.web.pages.shown import PageRequest, Shown

_PAGES = 1
"""The most pages of 200 failures that are read for the verdicts on an operation."""


async def operation(asked: PageRequest) -> Shown:
    """One operation."""
    found = await asked.viewer.ask_project("operation", asked.project, id=asked.id)
    one = found["project"]["operation"]
    if one is None:
        raise MissingError("operation")
    blames, is_all = await _blames(asked, one)
    return Shown("operation", {"it": found["project"], "operation": one, "blames": blames, "has_all_blames": is_all})


async def _blames(asked: PageRequest, one: Mapping[str, Any]) -> tuple[list[dict[str, Any]], bool]:
    """The failures with verdicts that blame the operation, each with these verdicts, and whether these are all."""
    if one["trace"] is None:
        return [], True
    rows: list[dict[str, Any]] = []
    after: str | None = None
    for _ in range(_PAGES):
        found = await asked.viewer.ask_project(
            "operation_failures",
            asked.project,
            trace=one["trace"]["id"],
            operation=words.operation(one),
            after=after,
        )
        for failure in found["project"]["failures"]["nodes"]:
            said = [verdict for verdict in failure["verdicts"] if (verdict["operation"] or {}).get("id") == one["id"]]
            if said:
                rows.append(failure | {"verdicts": said})
        after = found["project"]["failures"]["pageInfo"]["endCursor"]
        if after is None:
            return rows, True
    return rows, False
