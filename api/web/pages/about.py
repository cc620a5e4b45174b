"""Where one begins, who one is, and what the words mean."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from api.web.pages.render import HEADERS, at
from api.web.pages.shown import PageRequest, Shown


async def home(asked: PageRequest) -> Shown | Response:
    """The only project of the viewer, or all of them."""
    projects = asked.viewer.projects
    if len(projects) == 1:
        return RedirectResponse(at("projects", projects[0]), 303, HEADERS)
    return Shown("me", await asked.viewer.ask("viewer"))


async def me(asked: PageRequest) -> Shown:
    """Who the viewer is, and what that one may do where."""
    return Shown("me", await asked.viewer.ask("viewer"))


async def guide(asked: PageRequest) -> Shown:
    """What the error types and other words mean."""
    return Shown("help")
