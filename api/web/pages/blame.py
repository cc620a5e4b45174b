"""The page "what did harm": operations, prompts, memory units or sessions, ranked."""

from __future__ import annotations

from http import HTTPStatus

from api.web.pages.asking import PageError
from api.web.pages.overview import by_operation, methods_of
from api.web.pages.shown import PageRequest, Shown

WAYS = {"operation": "Operations", "prompt": "Prompts", "unit": "Memory units", "session": "Sessions"}
_MOST = 20


async def blame(asked: PageRequest) -> Shown:
    """The ranking."""
    by = asked.said("by")
    if by not in WAYS:
        by = "operation"
    try:
        opened = asked.said("calls") if by == "operation" else None
        kind = "name" if by == "operation" else by
        found = await asked.viewer.ask_project("blame", asked.project, by=kind, calls=opened, showsCalls=bool(opened))
    except PageError as error:
        if error.status != HTTPStatus.REQUEST_ENTITY_TOO_LARGE:  # too many failures to rank while the user waits
            raise
        return await _counted(asked, by)
    return Shown("blame", {"it": found["project"], "by": by, "ways": WAYS, "counted": None, "opened": opened})


async def _counted(asked: PageRequest, by: str) -> Shown:
    """How often the method with most verdicts blames each operation, which the store can always count."""
    found = await asked.viewer.ask_project("failure_choices", asked.project, trace=None)
    groups = found["project"]["verdictGroups"]
    method = next(iter(methods_of(groups)), None)
    values = {
        "it": found["project"],
        "by": by,
        "ways": WAYS,
        "counted": by_operation(groups, method)[:_MOST],
        "method": method,
    }
    return Shown("blame", values)
