"""Typed text survives a killed server and a store that is away; the page explains the problem."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import apsw
import pytest
from playwright.async_api import Browser, expect

from tests.graphql.world import World
from tests.server.forwarder import Forwarder
from tests.server.running import running
from tests.web.looking import Looking, looking


@pytest.fixture
def front(world: World) -> Iterator[Forwarder]:
    """The address in browsers, as of a load balancer."""
    forwarder = Forwarder(world.server.url)
    yield forwarder
    forwarder.close()


@asynccontextmanager
async def _writing(browser: Browser, world: World, url: str, reason: str) -> AsyncIterator[Looking]:
    """A user with a half-written verdict."""
    failure = f"/ui/projects/{world.project}/failures/{world.ids['failure']}"
    expected = (
        "ERR_CONNECTION_REFUSED",
        "ERR_EMPTY_RESPONSE",
        "ERR_CONNECTION_RESET",
        "status of 503",
        "status of 504",
    )
    async with looking(browser, world.server, *expected) as found:
        page = found.page
        await page.goto(f"{url}/ui/sign-in?next={quote(failure)}")
        await found.sign_in(world.server.key("writer", world.project))
        await expect(page).to_have_url(url + failure)
        await found.loaded()
        await page.get_by_label("Deletion error").check()
        await page.get_by_label("I can't tell").check()
        await page.get_by_label("Why?").fill(reason)
        yield found
        found.asked = [address for address in found.asked if not address.startswith(url)]


@pytest.mark.one_engine
async def test_a_killed_server(browser: Browser, world: World, front: Forwarder, tmp_path: Path) -> None:
    url, reason = f"http://127.0.0.1:{front.port}", "half a sent"
    with running(world.server.place, tmp_path) as one, running(world.server.place, tmp_path) as other:
        front.lead_to(one.url)
        async with _writing(browser, world, url, reason) as found:
            page = found.page
            one.kill()
            await asyncio.to_thread(front.close)
            await page.get_by_role("button", name="Save verdict").click()
            await expect(page.get_by_role("alert")).to_contain_text("the server can't be reached")
            await expect(page.get_by_label("Why?")).to_have_value(reason)
            front.lead_to(other.url)
            front.open()
            await page.reload()  # another server has the draft as well
            await expect(page.get_by_label("Why?")).to_have_value(reason)
            await expect(page.get_by_label("I can't tell")).to_be_checked()
            await page.get_by_role("button", name="Save verdict").click()
            await expect(page.get_by_role("status")).to_contain_text("saved")
            await expect(page.get_by_label("Why?")).to_have_value(reason)


async def test_a_store_that_takes_no_writes(browser: Browser, lone: World) -> None:
    """Another process locks the SQLite file for longer than the server waits."""
    connection = apsw.Connection(lone.server.place.store.removeprefix("sqlite:///"))
    async with _writing(browser, lone, lone.server.url, "while locked") as found:
        page = found.page
        connection.execute("BEGIN IMMEDIATE")
        try:
            await page.get_by_role("button", name="Save verdict").click(no_wait_after=True)
            await expect(page.get_by_role("heading", level=1)).to_have_text("Not at the moment", timeout=90_000)
            await expect(page.locator("main")).to_contain_text("still in this tab")
        finally:
            connection.execute("ROLLBACK")
        await page.get_by_role("link", name="Back to the page").click()
        await expect(page.get_by_label("Why?")).to_have_value("while locked")
        await found.loaded()
        await page.get_by_role("button", name="Save verdict").click()
        await expect(page.get_by_role("status")).to_contain_text("saved")


async def test_a_database_that_is_away(browser: Browser, world: World, tmp_path: Path) -> None:
    place = world.server.place
    if not place.store.startswith("neo4j"):
        pytest.skip("a SQLite file is not away: see test_a_store_that_takes_no_writes")
    with Forwarder(place.store) as line:
        there = replace(place, store=f"neo4j://127.0.0.1:{line.port}".replace("neo4j://", "bolt://"))
        with running(there, tmp_path, request_seconds=20) as server:
            async with _writing(browser, World(server, world.project, world.ids), server.url, "while away") as found:
                page = found.page
                await asyncio.to_thread(line.close)
                await page.get_by_role("button", name="Save verdict").click(no_wait_after=True)
                await expect(page.get_by_role("heading", level=1)).to_have_text("Not at the moment", timeout=90_000)
                await expect(page.locator("main")).to_contain_text("still in this tab")
                line.open()
                await page.get_by_role("link", name="Back to the page").click()
                await expect(page.get_by_label("Why?")).to_have_value("while away", timeout=90_000)
