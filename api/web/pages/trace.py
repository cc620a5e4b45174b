"""One trace: its activity, its operations with inputs and outputs, and its memory units, page by page.

While the trace is being recorded, the page shows the newest operations and reloads itself; see ``static/live.js``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from api.web.pages.activity import picture
from api.web.pages.asking import MissingError
from api.web.pages.shown import PageRequest, Shown
from schema.kinds import OperationKind, Status

NEWEST = 50
"""The number of operations on the page of a trace that is being recorded."""


_DEEPEST = 6
"""How many levels of nested operations are indented."""


async def trace(asked: PageRequest) -> Shown:
    """The page of a trace."""
    done = (await asked.viewer.ask_project("trace_activity", asked.project, id=asked.id))["project"]["trace"]
    if done is None:
        raise MissingError("trace")
    drawn = picture(done["activity"])
    shows_units = asked.said("show") == "units"
    kind, status = asked.said("kind"), asked.said("status")
    since, problem = asked.place("from", "step of the trace", least=1)
    since = None if since is None else since - 1
    is_begun = done["isLive"]
    live = asked.said("live")
    chooses = shows_units or any(asked.said(name) for name in ("after", "from", "kind", "status"))
    follows = not chooses and (live == "1" or (is_begun and live is None))
    if follows:
        since = max(0, done["counts"]["operations"] - NEWEST)
    found = await asked.viewer.ask_project(
        "trace",
        asked.project,
        id=asked.id,
        after=asked.said("after"),
        since=since or 0,
        kinds=[kind] if kind in set(OperationKind) else [],
        status=status if status in set(Status) else None,
        operations=not shows_units,
        units=shows_units,
    )
    one = found["project"]["trace"]
    if one is None:
        raise MissingError("trace")
    values = {
        "it": found["project"],
        "trace": one,
        "counts": done["counts"],
        "picture": drawn,
        "follows": follows,
        "is_live": is_begun,
        "shows_units": shows_units,
        "depths": depths(one["operations"]["nodes"]) if "operations" in one else {},
        "kind": kind,
        "status": status,
        "since": since,
        "problem": problem,
        "kinds": list(OperationKind),
        "statuses": list(Status),
        "is_first": asked.said("after") is None and (since is None or follows),
    }
    return Shown("trace", values)


def depths(operations: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The nesting depth of each operation below others of the same list, by id."""
    found: dict[str, int] = {}
    for one in operations:
        parent = one["attributes"].get("parentId")
        found[one["id"]] = min(_DEEPEST, found[parent] + 1) if parent in found else 0
    return found
