"""The pages "projects", "signed in as" and "help"."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from api.web.pages.render import HEADERS, at
from api.web.pages.shown import PageRequest, Shown


async def home(asked: PageRequest) -> Shown | Response:
    """The list of projects; a viewer with a single project goes straight to its overview."""
    projects = asked.viewer.projects
    if len(projects) == 1:
        return RedirectResponse(at("projects", projects[0]), 303, HEADERS)
    return Shown("me", await asked.viewer.ask("viewer"))


async def me(asked: PageRequest) -> Shown:
    """The viewer's name and roles."""
    return Shown("me", await asked.viewer.ask("viewer"))


async def guide(asked: PageRequest) -> Shown:
    """Explanations of the error types and of other words."""
    return Shown("help")
