"""What did harm: a ranking of operations, prompts, memory units or sessions."""

from __future__ import annotations

from api.web.pages.shown import PageRequest, Shown

WAYS = {"operation": "Operations", "prompt": "Prompts", "unit": "Memory units", "session": "Sessions"}


async def blame(asked: PageRequest) -> Shown:
    """A ranking."""
    by = asked.said("by")
    if by not in WAYS:
        by = "operation"
    found = await asked.viewer.ask_project("blame", asked.project, by=by)
    return Shown("blame", {"it": found["project"], "by": by, "ways": WAYS})
