"""The part "What to change first" of a project's overview."""

from __future__ import annotations

from typing import Any

from api.web.pages.recent import Recent
from api.web.pages.shown import PageRequest

MOST = 2000
"""The most failures of a project for which the overview works out what to change; more would take too long."""

_FOUND: Recent[list[dict[str, Any]]] = Recent(256, 15)
"""Results by project and method: reading all verdicts takes a while, and viewers come back to the overview."""


async def levers_of(asked: PageRequest, method: str | None, counted: tuple[int, int]) -> list[dict[str, Any]] | None:
    """What to change first according to a method's verdicts; None if the project has too many failures.

    Args:
        asked: the request.
        method: whose verdicts count; None if the project has no verdicts.
        counted: the numbers of failures and verdicts that the viewer may see.
    """
    if method is None:
        return []
    if counted[0] > MOST:
        return None
    context = asked.viewer.context

    async def ask() -> list[dict[str, Any]]:
        found = await asked.viewer.ask_project("levers", asked.project, source=method)
        levers: list[dict[str, Any]] = found["project"]["levers"]
        return levers

    key = (context.platform.settings.store, asked.project, context.access.principal.actor, method, counted)
    return await _FOUND.get(key, ask)
