"""Pictures of all pages, wide and narrow, light and dark: ``make screenshots`` puts them into .screenshots/.

With names of pages only of those; with ``--readme`` the three of the README alone, into docs/pictures/.
"""

from __future__ import annotations

import asyncio
import base64
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from urllib.parse import quote

from playwright.async_api import Browser, Page, async_playwright

from tests.attribution.report.browser import launch
from tests.graphql.world import World, make_world
from tests.server.running import running, sqlite_place
from tests.web.addresses import OPEN, OWN, addresses
from tests.web.team import Team, disputed, make_team

WIDTHS = (1280, 390)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_PROJECT = "assistant"
_README = {
    "overview": "/ui/projects/{project}",
    "failure": "/ui/projects/{project}/failures",
    "graph": "/ui/projects/{project}/variables/{answer}/graph",
}
_QUESTION = "What did the vet say gives Biscuit itchy ears?"
"""The failure in the README."""

_PICTURES = Path("docs/pictures")


async def take(team: Team, failure: str, folder: Path, only: list[str]) -> None:
    """Take the pictures of one project's pages.

    Args:
        team: people in a project, with a queue.
        failure: a failure on which people disagree.
        folder: where to write the pictures.
        only: names of pages; empty takes all.
    """
    world = team.world
    everybody = {**OPEN, **OWN, **addresses(world), "not-found": "/ui/nothing"}
    mine = team.next("Ada")
    of = {
        world.server.key("admin", world.project): {"keys": f"/ui/projects/{world.project}/settings"},
        team.keys["Ada"]: {"team-queue": team.base, "case": f"{team.base}/cases/{mine}"},
        team.keys["Dan"]: {"dispute": f"{team.base}/disputes/{failure}"},
        world.server.key("writer", world.project): everybody,
    }
    async with async_playwright() as playwright:
        browser = await launch(playwright)
        for width in WIDTHS:
            for scheme in SCHEMES:
                for key, pages in of.items():
                    wanted = {name: address for name, address in pages.items() if not only or name in only}
                    if wanted:
                        page = await _signed_in(browser, world, key, width, scheme)
                        for name, address in wanted.items():
                            await _open(page, address)
                            await page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
                        await page.context.close()
        await browser.close()


async def _signed_in(browser: Browser, world: World, key: str, width: int, scheme: Literal["light", "dark"]) -> Page:
    context = await browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, base_url=world.server.url
    )
    page = await context.new_page()
    await page.goto(f"/ui/sign-in?next={quote('/ui/help')}")
    await page.get_by_label("API key").fill(key)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("heading", level=1, name="Help").wait_for()
    return page


async def _open(page: Page, address: str) -> None:
    await page.goto(address, wait_until="load")
    if await page.locator("[data-graph]").count():
        await page.locator("[data-ready]").wait_for()


async def for_readme(world: World) -> None:
    """Take the README's pictures: small, and of the sample."""
    async with async_playwright() as playwright:
        browser = await launch(playwright)
        page = await _signed_in(browser, world, world.server.key("writer", world.project), 1280, "light")
        shooting = await page.context.new_cdp_session(page)
        for name, address in _README.items():
            await _open(page, address.format(project=world.project, **world.ids))
            if name == "failure":
                await page.get_by_role("link", name=_QUESTION).click()
                await page.get_by_role("heading", level=1, name=_QUESTION).wait_for()
            await page.mouse.move(0, 0)
            shot = await shooting.send("Page.captureScreenshot", {"format": "webp", "quality": 80})
            (_PICTURES / f"{name}.webp").write_bytes(base64.b64decode(shot["data"]))
        await browser.close()


def main() -> None:
    """Start a server with the sample, and take the pictures."""
    folder, only = Path(".screenshots"), sys.argv[1:]
    folder.mkdir(exist_ok=True)
    with (
        TemporaryDirectory() as place,
        running(sqlite_place(Path(place)), Path(place), rate_limit="1000000/minute") as server,
    ):
        world = make_world(server, _PROJECT)
        if only == ["--readme"]:
            _PICTURES.mkdir(exist_ok=True)
            asyncio.run(for_readme(world))
            print(f"The pictures are in {_PICTURES}/")  # noqa: T201
            return
        team = make_team(world)
        asyncio.run(take(team, disputed(team), folder, only))
    print(f"The pictures are in {folder}/")  # noqa: T201


if __name__ == "__main__":
    main()
