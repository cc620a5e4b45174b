"""Two traces or two methods side by side: fixed failures, new failures, and failures that remain."""

from __future__ import annotations

from typing import Any

from api.web.pages.overview import methods_of
from api.web.pages.shown import PageRequest, Shown

TABS = {
    "traces": {
        "fixed": "Fixed",
        "broken": "Broken",
        "stillWrong": "Still wrong",
        "stillRight": "Still right",
        "notJudged": "Not judged",
        "notCompared": "Asked once",
    },
    "methods": {
        "fixed": "Only the second is right",
        "broken": "Only the first is right",
        "stillWrong": "Both are wrong",
        "stillRight": "Both are right",
        "different": "They differ, nobody has judged",
        "notCompared": "Not compared",
    },
}
"""The names of the outcomes; a comparison of traces has no ``different``, one of methods no ``notJudged``."""


_DOCUMENTS = {"traces": "compare_traces", "methods": "compare_methods"}


async def compare(asked: PageRequest) -> Shown:
    """What to compare, and how the answer describes it."""
    by = "methods" if asked.said("by") == "methods" else "traces"
    said = {"by": by, **{name: asked.said(name) for name in ("before", "after", "trace")}}
    one = (await asked.viewer.ask_project("compare", asked.project))["project"]
    found = await _found(asked, by, said) if said["before"] and said["after"] else None
    if found and by == "traces":
        said |= {name: found[name]["id"] for name in ("before", "after") if found.get(name)}
    values = {
        "it": one,
        "by": by,
        "said": said,
        "methods": methods_of(one["verdictGroups"]),
        "traces": one["traces"]["nodes"],
        "tabs": TABS[by],
        "found": found,
        "is_first": asked.said("page") is None,
    }
    return Shown("compare", values)


async def _found(asked: PageRequest, by: str, said: dict[str, Any]) -> dict[str, Any]:
    """The comparison with one outcome in full. ``missing`` explains a comparison that can't be made."""
    shown = asked.said("show")
    wanted = {"before": said["before"], "after": said["after"], "page": asked.said("page")}
    if by == "methods":
        wanted["trace"] = said["trace"]
    outcome = shown if shown in TABS[by] else None
    answer = (
        await asked.viewer.ask_project(_DOCUMENTS[by], asked.project, outcome=outcome or next(iter(TABS[by])), **wanted)
    )["project"]
    if answer["found"] is None:
        if by == "methods":
            missing = "One of the two has given no verdict here."
        else:
            gone = [f"The {name} trace" for name, key in (("first", "before"), ("second", "after")) if not answer[key]]
            missing = f"{' and '.join(gone)} can't be found."
        return {"missing": missing}
    counts = {one["outcome"]: one["count"] for one in answer["found"]["outcomes"]}
    fullest = next((name for name in TABS[by] if counts[name]), None)
    if outcome is None and fullest and not counts[next(iter(TABS[by]))]:
        # Without a choice by the viewer, an outcome that is not empty is shown.
        answer = (await asked.viewer.ask_project(_DOCUMENTS[by], asked.project, outcome=fullest, **wanted))["project"]
    return {
        "missing": None,
        "before": answer.get("before"),
        "after": answer.get("after"),
        "counts": counts,
        "p": answer["found"]["pValue"],
        "cases": answer["found"]["cases"],
        "shown": outcome or fullest or next(iter(TABS[by])),
    }
