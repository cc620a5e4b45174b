"""A browser on the pages that records all requests and problems."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from playwright.async_api import Browser, BrowserContext, Page, Response, expect

from tests.server.running import RunningServer

PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)
TOLD = """addEventListener("securitypolicyviolation", event => {
    console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
});"""


@dataclass
class Looking:
    """A page with its log.

    Attributes:
        asked: requested addresses.
        problems: messages of the console, errors of the page, and violations of its policy.
    """

    server: RunningServer
    page: Page
    context: BrowserContext
    asked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    async def goto(self, address: str) -> Response:
        """Open an address of the server."""
        answer = await self.page.goto(self.server.url + address, wait_until="load")
        assert answer is not None
        return answer

    async def sign_in(self, key: str) -> None:
        """Sign in with a key."""
        await self.page.get_by_label("API key").fill(key)
        await self.page.get_by_role("button", name="Sign in").click()

    async def is_at(self, address: str) -> None:
        """Wait until the browser is at this address of the server."""
        await expect(self.page).to_have_url(self.server.url + address)
        await self.loaded()

    async def loaded(self) -> None:
        """Wait until the scripts of the present page have run; earlier, keys have no effect."""
        await self.page.wait_for_load_state("load")


@asynccontextmanager
async def looking(
    browser: Browser,
    server: RunningServer,
    *expected: str,
    width: int = 1280,
    scheme: Literal["light", "dark"] = "light",
) -> AsyncIterator[Looking]:
    """Start a browser of its own; at the end check that it sent no request elsewhere and reported no problem.

    Args:
        browser: the program.
        server: serves the pages.
        expected: parts of expected lines of the console.
        width: width of the window in pixels.
        scheme: the colour scheme that the user prefers.
    """
    context = await browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE_MS)
    await context.add_init_script(TOLD)
    found = Looking(server, await context.new_page(), context)
    context.on("request", lambda request: found.asked.append(request.url))
    context.on("console", lambda line: found.problems.append(line.text))
    context.on("weberror", lambda error: found.problems.append(str(error.error)))
    yield found
    problems = [line for line in found.problems if not any(part in line for part in expected)]
    assert problems == [], problems
    elsewhere = [url for url in found.asked if not url.startswith(f"{server.url}/")]
    assert elsewhere == [], elsewhere
    await context.close()
