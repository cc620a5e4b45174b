"""Where the words that a right answer needed were lost, as marks on the boxes of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from api.web.pages.failure import word_on
from api.web.pages.shown import PageRequest

Found = Mapping[str, Any]


async def failure_of(asked: PageRequest, came_from: str | None) -> Found | None:
    """The failure whose page led to the graph; None if another page did, or for a case that is still to be judged."""
    if came_from is None or not came_from.startswith("failures/"):
        return None
    found = await asked.viewer.ask_project("graph_marks", asked.project, id=came_from.removeprefix("failures/"))
    failure: Found | None = found["project"]["failure"]
    return failure


def marks_of(failure: Found | None) -> dict[str, str]:
    """The marks of variables, by their ids: ``held``, ``lost``, or ``last`` where the next step is no variable."""
    verdict = word_on(failure["verdicts"]) if failure else None
    found: dict[str, str] = {}
    for loss in verdict["losses"] if verdict else ():
        if not loss["reached"]:
            found |= {id_: mark for id_, mark in _marks(loss["path"]).items() if found.get(id_) != "lost"}
    return found


def _marks(path: Sequence[Found]) -> dict[str, str]:
    """The marks of one piece's way."""
    end = next((at for at in range(1, len(path)) if path[at - 1]["holds"] and not path[at]["holds"]), len(path))
    found = {step["variable"]["id"]: "held" for step in path[:end] if step["holds"] and step["variable"]}
    if end < len(path) and path[end]["variable"] and path[end]["variable"]["id"] not in found:
        found[path[end]["variable"]["id"]] = "lost"
    elif found:
        found[list(found)[-1]] = "last"
    return found
