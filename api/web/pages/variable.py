"""One variable: its value in windows, its operations, and the differences between versions."""

from __future__ import annotations

from typing import Any

from api.graphql.variable import MAX_VALUE
from api.web.pages import words
from api.web.pages.asking import MissingError, PageError
from api.web.pages.shown import PageRequest, Shown
from schema.kinds import STORED, VariableKind

WINDOW = 20_000
"""The number of characters in a window; the GraphQL document has the same number."""

_VERSIONED = STORED | {VariableKind.PROMPT}
"""Kinds of variables whose values of one name are versions of one thing."""


async def variable(asked: PageRequest) -> Shown:
    """The page of a variable."""
    compared = asked.said("compare")
    found = await _found(asked, compared)
    one = found["project"]["variable"]
    if one is None:
        raise MissingError("variable")
    difference = found["project"].get("diff")
    refused = "unlike" in found
    if compared is not None and difference is None and not refused:
        raise MissingError("version to compare with")
    value = one.get("value")
    values = {
        "it": found["project"],
        "variable": one,
        "is_versioned": one["kind"] in _VERSIONED,
        "value": value,
        "most": MAX_VALUE,
        "marks": words.marked(value["text"], [asked.said("find")]) if value else [],
        "find": asked.said("find"),
        "end": value["offset"] + len(value["text"]) if value else 0,
        "window": WINDOW,
        "unlike": found.get("unlike"),
        "diff": difference,
        "rows": words.difference(difference["unified"]) if difference else [],
    }
    return Shown("variable", values)


async def _found(asked: PageRequest, compared: str | None) -> dict[str, Any]:
    """The data of the page, without comparisons of values that are too large or too different.

    ``unlike`` holds the version that is not compared.
    """
    reads, compares = True, compared is not None
    while True:
        try:
            found = await asked.viewer.ask_project(
                "variable",
                asked.project,
                id=asked.id,
                offset=asked.number("offset"),
                read=reads,
                compare=compares,
                other=compared is not None and not compares,
                reference=compared or "",
                before=compared or "",
                after=asked.id,
            )
        except PageError as error:
            if reads and error.is_of("value"):
                reads = False
            elif compares and error.is_of("diff"):
                compares = False
            else:
                raise
        else:
            other = found["project"].get("other")
            return found if other is None else found | {"unlike": other}
