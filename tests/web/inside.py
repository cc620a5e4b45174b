"""Pages without a server: the application answers in this process, on a store that the test opened."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import httpx

from api.auth.browsers import COOKIE
from api.auth.keys import make_key
from api.http.metrics import Metrics
from api.server import _platform, create_app
from api.settings.loading import open_queue
from schema.control import Role
from store.contract.protocol import Database
from tests.graphql.explained import explained
from tests.server.inside import settings_for

_SHOWN = (
    "href",
    "action",
    "method",
    "name",
    "value",
    "type",
    "title",
    "alt",
    "aria-label",
    "datetime",
    "for",
    "content",
)
_FLAGS = ("checked", "selected", "disabled", "required", "hidden", "open")
_BARE = {"html", "head", "body", "div", "span", "wbr", "tbody", "br", "b", "strong", "em", "small", "link", "script"}


@asynccontextmanager
async def pages(database: Database, folder: Path, project: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the application, with an admin's key."""
    settings = settings_for(folder)
    text, kept = make_key(project, "a key", Role.ADMIN, "test", datetime.now(UTC))
    await database.records(project).add_key(kept)
    app = create_app(settings, database)
    async with await open_queue(settings) as events:
        platform = _platform(settings, database, events, Metrics(), None)
        app.state.platform = replace(platform, explaining=explained(database))
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        headers = {"Cookie": f"{COOKIE}={text}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://memtrace", headers=headers) as client:
            yield client
        await platform.queue.close()


class _Outline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "style", "svg"}:
            self._skipped += tag != "svg"
        given = dict(attrs)
        shown = [f'{name}="{given[name]}"' for name in _SHOWN if given.get(name) is not None]
        shown += [name for name in _FLAGS if name in given]
        if tag not in _BARE:
            self.lines.append(f"<{' '.join([tag, *shown])}>")

    def handle_endtag(self, tag: str) -> None:
        if tag in {"script", "style"}:
            self._skipped -= 1

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if text and not self._skipped:
            self.lines.append(text)


def outline(page: str) -> str:
    """The texts of a page with its links, forms and tables, a line each."""
    read = _Outline()
    read.feed(page)
    read.close()
    return "\n".join(read.lines) + "\n"
