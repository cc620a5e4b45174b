"""What to change first, on the overview of a project."""

from __future__ import annotations

from typing import Any

from api.web.pages.recent import Recent
from api.web.pages.shown import PageRequest

MOST = 2000
"""Failures of a project of which the overview says what to change first; beyond that one would wait too long."""

_FOUND: Recent[list[dict[str, Any]]] = Recent(256, 15)
"""All verdicts of a project are looked at, and who goes back to the overview finds the same."""


async def levers_of(asked: PageRequest, method: str | None, counted: tuple[int, int]) -> list[dict[str, Any]] | None:
    """What to change first by the verdicts of a method; None where there are too many failures.

    Args:
        asked: who asks, and of which project.
        method: whose verdicts count; None where there are none.
        counted: the failures and the verdicts of the project that the viewer may see.
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
