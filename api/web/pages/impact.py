"""Everything that depends on a variable: counts, and the answers among it."""

from __future__ import annotations

from collections import Counter

from api.web.pages.asking import MissingError
from api.web.pages.shown import PageRequest, Shown

_LISTED = 200


async def impact(asked: PageRequest) -> Shown:
    """The page of a variable's impact."""
    found = await asked.viewer.ask_project("impact", asked.project, id=asked.id)
    one = found["project"]["variable"]
    if one is None:
        raise MissingError("variable")
    after = [node for node in one["lineage"]["nodes"] if node["id"] != one["id"]]
    answers = [node for node in one["answers"]["nodes"] if node["id"] != one["id"]]
    answers.sort(key=lambda node: {False: 0, True: 1}.get(node["right"], 2))
    values = {
        "it": found["project"],
        "variable": one,
        "count": len(after),
        "kinds": Counter(node["kind"] for node in after).most_common(),
        "truncated": one["lineage"]["truncated"],
        "answers": answers[:_LISTED],
        "answer_count": len(answers),
        "wrong": sum(node["right"] is False for node in answers),
        "right": sum(node["right"] is True for node in answers),
    }
    return Shown("impact", values)
