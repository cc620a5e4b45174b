"""Pictures of all pages, wide and narrow, light and dark: ``make screenshots`` puts them into .screenshots/."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from playwright.async_api import async_playwright

from tests.attribution.report.browser import launch
from tests.graphql.world import World, make_world
from tests.server.running import running, sqlite_place
from tests.web.addresses import OPEN, OWN, addresses

WIDTHS = (1280, 390)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


async def take(world: World, folder: Path, only: list[str]) -> None:
    """Take the pictures of one world's pages."""
    pages = {**OPEN, **OWN, **addresses(world), "not-found": "/ui/nothing"}
    async with async_playwright() as playwright:
        browser = await launch(playwright)
        for width in WIDTHS:
            for scheme in SCHEMES:
                context = await browser.new_context(
                    viewport={"width": width, "height": 900}, color_scheme=scheme, base_url=world.server.url
                )
                page = await context.new_page()
                await page.goto("/ui/sign-in")
                await page.get_by_label("API key").fill(world.server.key("writer", world.project))
                await page.get_by_role("button", name="Sign in").click()
                await page.get_by_role("heading", level=1).wait_for()
                for name, address in pages.items():
                    if only and name not in only:
                        continue
                    await page.goto(address, wait_until="load")
                    if await page.locator("[data-graph]").count():
                        await page.locator("[data-ready]").wait_for()
                    await page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
                await context.close()
        await browser.close()


def main() -> None:
    """Start a server with the sample, and take the pictures."""
    folder = Path(".screenshots")
    folder.mkdir(exist_ok=True)
    with (
        TemporaryDirectory() as place,
        running(sqlite_place(Path(place)), Path(place), rate_limit="1000000/minute") as server,
    ):
        asyncio.run(take(make_world(server, server.project), folder, sys.argv[1:]))
    print(f"The pictures are in {folder}/")  # noqa: T201


if __name__ == "__main__":
    main()
