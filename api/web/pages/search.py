"""The page that searches variables by words."""

from __future__ import annotations

from api.web.pages.shown import PageRequest, Shown


async def search(asked: PageRequest) -> Shown:
    """The results; without words, the form alone."""
    text = asked.said("text") or ""
    found = await asked.viewer.ask_project("search", asked.project, text=text, search=bool(text.strip()))
    return Shown("search", {"it": found["project"], "text": text, "hits": found["project"].get("search")})
