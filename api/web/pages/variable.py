"""One variable: its value in windows, what made and used it, and what changed from version to version."""

from __future__ import annotations

from api.web.pages import words
from api.web.pages.asking import MissingError
from api.web.pages.shown import PageRequest, Shown

WINDOW = 20_000
"""Characters of a value that are shown at a time; the document says the same."""


async def variable(asked: PageRequest) -> Shown:
    """A variable."""
    compared = asked.said("compare")
    found = await asked.viewer.ask_project(
        "variable",
        asked.project,
        id=asked.id,
        offset=asked.number("offset"),
        compare=compared is not None,
        before=compared or "",
        after=asked.id,
    )
    one = found["project"]["variable"]
    if one is None:
        raise MissingError("variable")
    difference = found["project"].get("diff")
    if compared is not None and difference is None:
        raise MissingError("version to compare with")
    value = one["value"]
    values = {
        "it": found["project"],
        "variable": one,
        "marks": words.marked(value["text"], [asked.said("find")]),
        "find": asked.said("find"),
        "end": value["offset"] + len(value["text"]),
        "window": WINDOW,
        "diff": difference,
        "rows": words.difference(difference["unified"]) if difference else [],
    }
    return Shown("variable", values)
