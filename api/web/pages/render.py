"""Renders templates to answers. Templates escape everything, so stored text can't become markup."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment
from starlette.responses import HTMLResponse

from api.graphql.worker_thread import WorkerThread
from api.web.assets import STATIC, Assets
from api.web.pages import words
from attribution.report import chart
from attribution.report.html import SHARED, shared_style_sheet
from attribution.spine.draw import style_sheet
from attribution.text.templates import environment

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
    # Other hosts get no referrer; for our own forms, the referrer names the page to go back to.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
# The graph fetches its data, and a worker computes the layout; this policy allows only the worker's address.
_GRAPH_POLICY = _POLICY.replace("trusted-types 'none'", "trusted-types memtrace-graph; connect-src 'self'")
# Pages that follow something reload themselves: a script fetches the page and parses the answer. Long forms check that
# the server is there before they are sent.
_AGAIN_POLICY = f"{_POLICY}; connect-src 'self'"
_ASKING = ("overview", "failures", "memory", "trace", "job", "failure", "queue_failure", "dispute", "queues")
_thread = WorkerThread("pages")
_POLICIES = {"graph": _GRAPH_POLICY} | dict.fromkeys(_ASKING, _AGAIN_POLICY)


def assets() -> Assets:
    """The static files of the pages."""
    types = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".txt": "text/plain"}
    files = [STATIC / name for name in ("pages.css", "pages.js", "live.js", "pages.svg")]
    files += sorted((STATIC / "graph").iterdir()) + sorted((STATIC / "vendor").glob("dagre.*"))
    made = {"spine.css": style_sheet(), "shared.css": shared_style_sheet()}
    return Assets({file.relative_to(STATIC).as_posix(): types[file.suffix] for file in files}, made)


def at(*parts: str, **query: str | None) -> str:
    """The address of a page: its path below ``/ui``, and its query without empty values."""
    path = "/".join(("/ui", *(quote(part, safe="") for part in parts)))
    kept = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(kept)}" if kept else path


def addresses(project: str) -> Callable[[str, str], str]:
    """The addresses of a project's elements, by kind and id."""
    return partial(at, "projects", project)


async def render(template: str, version: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """Render a page.

    Args:
        template: the name of the template.
        version: the hash in the address of the static files.
        values: the values that the template uses.
        status: the HTTP status of the answer.
    """
    # Compiling the templates takes a fifth of a second, and a page of long texts takes as long.
    text = await _thread.run(lambda: _rendered(template, {"assets": f"/ui/assets/{version}", **values}))
    policy = {"Content-Security-Policy": _POLICIES.get(template, _POLICY)}
    return HTMLResponse(text, status, HEADERS | policy)


def _rendered(template: str, values: Mapping[str, Any]) -> str:
    return _environment().get_template(f"{template}.html.j2").render(values)


@cache
def _environment() -> Environment:
    made = environment(_TEMPLATES, SHARED)
    made.globals.update(words=words, chart=chart, at=at, addresses=addresses)
    for name in made.list_templates():
        made.get_template(name)
    return made
