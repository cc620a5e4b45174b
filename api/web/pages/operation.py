"""The page of one operation: input, output, and the variables whose life ended with the operation."""

from __future__ import annotations

from api.web.pages.asking import MissingError
from api.web.pages.shown import PageRequest, Shown


async def operation(asked: PageRequest) -> Shown:
    """One operation."""
    found = await asked.viewer.ask_project("operation", asked.project, id=asked.id)
    one = found["project"]["operation"]
    if one is None:
        raise MissingError("operation")
    return Shown("operation", {"it": found["project"], "operation": one})
