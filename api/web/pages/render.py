"""From templates to answers. Whatever is stored shows as text: templates escape all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from api.web.assets import STATIC, Assets
from api.web.pages import words
from attribution.report import chart
from attribution.spine.draw import style_sheet
from attribution.text.fit import printable

_TEMPLATES = Path(__file__).parents[1] / "templates"
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    # Nothing is told to other hosts, and our own forms say where they come from.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
# The graph fetches its data, and lays it out in a worker, whose address is the one script that a script may name.
_GRAPH_POLICY = _POLICY.replace("trusted-types 'none'", "trusted-types memtrace-graph; connect-src 'self'")
# What shows a moment, or what goes on, asks for itself again; the browser reads the answer as a document. And a form
# that takes long to fill in asks whether the server is there before it is sent.
_AGAIN_POLICY = f"{_POLICY}; connect-src 'self'"
_ASKING = ("overview", "failures", "memory", "trace", "job", "failure", "case", "dispute", "queues")
_POLICIES = {"graph": _GRAPH_POLICY} | dict.fromkeys(_ASKING, _AGAIN_POLICY)


def assets() -> Assets:
    """What the pages load."""
    types = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".txt": "text/plain"}
    files = [STATIC / name for name in ("pages.css", "pages.js", "live.js", "pages.svg")]
    files += sorted((STATIC / "graph").iterdir()) + sorted((STATIC / "vendor").glob("dagre.*"))
    return Assets(
        {file.relative_to(STATIC).as_posix(): types[file.suffix] for file in files}, {"spine.css": style_sheet()}
    )


def at(*parts: str, **query: str | None) -> str:
    """The address of a page: its path below ``/ui``, and those parts of its query that are not empty."""
    path = "/".join(("/ui", *(quote(part, safe="") for part in parts)))
    kept = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(kept)}" if kept else path


async def render(template: str, version: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """A page.

    Args:
        template: the name of the template.
        version: of the files that the page loads.
        values: what the template shows.
        status: of the answer.
    """
    if _environment.cache_info().currsize == 0:
        # To compile the templates takes a fifth of a second, in which other requests should be answered.
        await asyncio.to_thread(_environment)
    text = _environment().get_template(f"{template}.html.j2").render({"assets": f"/ui/assets/{version}", **values})
    policy = {"Content-Security-Policy": _POLICIES.get(template, _POLICY)}
    return HTMLResponse(text, status, HEADERS | policy)


@cache
def _environment() -> Environment:
    """All templates, compiled."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_fit,
        auto_reload=False,
    )
    environment.globals.update(words=words, chart=chart, at=at)
    for name in environment.list_templates():
        environment.get_template(name)
    return environment


def _fit(value: Any) -> Any:
    """Text that may be put into a document; markup that a template made is left as it is."""
    return printable(value) if type(value) is str else value
