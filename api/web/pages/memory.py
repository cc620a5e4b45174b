"""The memory of a trace at a moment, and one memory unit: versions, sources, and the answers that used the unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from api.web.pages import words
from api.web.pages.asking import MissingError, PageError
from api.web.pages.shown import PageRequest, Shown
from attribution.text.word_diff import merged_changes

_SMALL = 600
"""The most units of a memory that is looked through without being asked for: it takes a second for thousands."""


async def memory(asked: PageRequest) -> Shown:
    """The whole memory, or one memory unit."""
    unit = asked.said("unit")
    place, problem = asked.place("asOf")
    wanted: dict[str, Any] = {
        "id": asked.id,
        "asOf": place,
        "at": place or 0,
        "after": asked.said("after"),
        "unit": unit or "",
        "all": unit is None,
        "one": unit is not None,
    }
    try:
        found = await asked.viewer.ask_project("memory", asked.project, **wanted, changes=True)
        compares = True
    except PageError as error:
        if unit is None or not error.is_of("change"):
            raise
        # The page without the comparison of versions, whose values are too large or too different.
        found = await asked.viewer.ask_project("memory", asked.project, **wanted, changes=False)
        compares = False
    one = found["project"]["trace"]
    if one is None:
        raise MissingError("trace")
    shown = one["memory"].get("unit")
    if unit is not None and shown is None:
        raise MissingError("memory unit")
    last = max(0, one["counts"]["operations"] - 1)
    if place is not None and place > last:
        problem = f"The trace has only {words.counted(last + 1, 'step')}; this is its memory after the last one."
    looks = unit is None and asked.said("after") is None
    is_small = one["memory"]["count"] <= _SMALL
    review = None
    if looks and (is_small or asked.said("look")):
        more = await asked.viewer.ask_project("memory_review", asked.project, id=one["id"], asOf=place)
        review = more["project"]["trace"]["memory"]["review"]
    values = {
        "review": review,
        "may_look": looks and review is None,
        "it": found["project"],
        "trace": one,
        "memory": one["memory"],
        "unit": shown,
        "said_unit": unit,
        "as_of": place,
        "place": last if place is None else min(place, last),
        "last": last,
        "step": next(iter(one["operations"]["nodes"]), None) if place is not None and place <= last else None,
        "rows": {
            version["variable"]["id"]: words.difference(version["change"]["unified"])
            for version in (shown or {}).get("versions", ())
            if version.get("change")
        },
        "evolved": _evolved((shown or {}).get("versions", ())),
        "compares": compares,
        "problem": problem,
        "is_first": asked.said("after") is None,
    }
    return Shown("memory", values)


def _evolved(versions: Sequence[Mapping[str, Any]]) -> dict[str, words.Parts]:
    """What each short version says, with the words that are gone and new; by the id of the variable."""
    found: dict[str, words.Parts] = {}
    for before, after in pairwise(one["variable"] for one in versions):
        if all(one["size"] == len(one["preview"].encode("utf-8", "replace")) for one in (before, after)):
            old, new = (words.text_of(one["preview"]) for one in (before, after))
            if old != new:
                found[after["id"]] = merged_changes(old, new)
    return found
