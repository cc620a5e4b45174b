"""Addresses that people guess, such as ``/ui/failures`` or ``/failures/ID``: they lead to the page that is meant."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import RedirectResponse, Response

from api.web.pages.asking import PageError
from api.web.pages.render import HEADERS, at
from api.web.pages.shown import PageRequest

_WORDS: Mapping[str, tuple[str, ...]] = {
    "answers": ("answers", "answer", "questions", "question"),
    "blame": ("blame",),
    "compare": ("compare", "diff"),
    "failures": ("failures", "failure", "errors", "wrong"),
    "jobs": ("jobs", "job"),
    "operations": ("operations", "operation", "steps"),
    "queues": ("queues", "annotate", "annotations", "review"),
    "search": ("search", "find"),
    "settings": ("settings", "keys", "team", "users", "members", "config"),
    "traces": (
        "traces",
        "trace",
        "runs",
        "sessions",
        "session",
        "dashboard",
        "home",
        "overview",
        "stats",
        "reports",
        "report",
        "projects",
    ),
    "variables": ("variables", "variable", "memories", "memory", "units", "messages"),
}
_PAGE_OF = {word: page for page, words in _WORDS.items() for word in words}
PAGES = tuple(_PAGE_OF)
"""The words that people look for without ``/ui`` before them."""

_OF_ONE = {"failures", "jobs", "operations", "queues", "traces", "variables"}
"""Pages of one failure, job, operation and so on: an id follows the word. The page of variables also shows answers."""
_PARTS: Mapping[str, Mapping[str, str]] = {
    "traces": dict.fromkeys(("timeline", "operations", "steps", "sessions", "events", "failures", "answers"), "")
    | dict.fromkeys(("memories", "units", "state"), "memory"),
    "variables": dict.fromkeys(("history", "versions"), "")
    | dict.fromkeys(("lineage", "closure", "provenance"), "graph")
    | {"effects": "impact", "raw": "value", "text": "value"},
    "failures": dict.fromkeys(("why", "verdict", "verdicts", "explain", "comments", "timeline"), ""),
    "operations": dict.fromkeys(("inputs", "outputs"), ""),
}
"""What people add to the address of one thing, and the page of the thing that is meant; its own page if empty."""
_SECTIONS = {"settings": {"keys", "users", "team", "members", "invitations", "retention"}}
"""Parts of a page that people take for pages below it."""
_OVERVIEW = {"operations", "traces", "variables"}
"""Words without a page that lists such things: they lead to the overview of the project."""


def is_guess(rest: str) -> bool:
    """Whether the rest of an address begins with a word that leads to a page."""
    return rest.strip("/").partition("/")[0] in _PAGE_OF


async def of_any(asked: PageRequest) -> Response:
    """The page that an address means which names no project, if the viewer has a single one.

    Raises:
        PageError: the viewer may see several projects, or none; or no page is meant.
    """
    projects = asked.viewer.projects
    word, *rest = _parts(asked)
    if len(projects) != 1:
        raise PageError(404, f"Pages belong to a project. Write its name: /ui/projects/NAME/{_PAGE_OF[word]}")
    return _to(projects[0], word, rest, asked)


async def of_project(asked: PageRequest) -> Response:
    """The page of a project that an address means by another word, such as ``answers/ID``.

    Raises:
        PageError: no page is meant.
    """
    word, *rest = _parts(asked)
    return _to(asked.project, word, rest, asked)


def _parts(asked: PageRequest) -> list[str]:
    return [part for part in str(asked.request.path_params["rest"]).split("/") if part]


def _to(project: str, word: str, rest: list[str], asked: PageRequest) -> Response:
    page = _PAGE_OF[word]
    if len(rest) == 1 and rest[0] in _SECTIONS.get(page, ()):
        rest = []
    if rest:
        page = "variables" if page == "answers" else page
        parts = _PARTS.get(page, {})
        is_part = len(rest) > 1 and rest[1] in parts
        is_same = page == word and asked.request.path_params.get("project") and not is_part
        if page not in _OF_ONE or is_same:
            raise PageError(404, "There is no such page.")
        shown = [rest[0], *([parts[rest[1]]] if parts[rest[1]] else []), *rest[2:]] if is_part else rest
        address = at("projects", project, page, *shown)
    else:
        address = at("projects", project) if page in _OVERVIEW else at("projects", project, page)
    query = asked.request.url.query
    return RedirectResponse(f"{address}?{query}" if query else address, 303, HEADERS)
