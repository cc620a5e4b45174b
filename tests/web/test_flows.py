"""From signing in to the next failure, once by mouse and once by keyboard, on each engine."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Locator, expect

from tests.graphql.world import World
from tests.web.looking import Looking, looking

_QUESTION = "On which day of the week is Mara's pottery class?"
_QUOTE = "I joined a pottery class on Thursday evenings at the Kiln House."
_TABS = 300


async def _follow(found: Looking, link: Locator, by_keys: bool) -> None:
    """Follow a link: with the mouse, or with Tab and Enter."""
    await found.loaded()
    await expect(link).to_be_visible()
    if not by_keys:
        await link.click()
        return
    wanted = await link.element_handle()
    for _ in range(_TABS):
        await found.page.keyboard.press("Tab")
        if await found.page.evaluate("wanted => document.activeElement === wanted", wanted):
            await found.page.keyboard.press("Enter")
            return
    raise AssertionError(f"Tab does not lead to {link}")


@pytest.mark.parametrize(
    "by_keys", [False, pytest.param(True, marks=[pytest.mark.full, pytest.mark.one_engine])], ids=["mouse", "keys"]
)
async def test_from_the_door_to_the_next_failure(browser: Browser, shared: World, by_keys: bool) -> None:
    base, key = f"/ui/projects/{shared.project}", shared.server.key("writer", shared.project)
    async with looking(browser, shared.server) as found:
        page = found.page
        await found.goto("/")
        if by_keys:
            await page.keyboard.type(key)
            await page.keyboard.press("Enter")
        else:
            await found.sign_in(key)
        await found.is_at(base)
        await _follow(found, page.get_by_role("link", name="Failures", exact=True), by_keys)
        await found.is_at(f"{base}/failures")
        sorts = page.get_by_role("navigation", name="Sort by")
        await _follow(found, sorts.get_by_role("link", name="Error type"), by_keys)
        await found.is_at(f"{base}/failures?sort=errorType")
        await _follow(found, page.get_by_role("link", name=_QUESTION), by_keys)
        await expect(page.get_by_role("heading", level=1)).to_have_text(_QUESTION)
        failure = page.url
        await expect(page.locator(".way .lost")).to_contain_text("lost here")
        held = page.locator(".way .held:has(.kind-MemoryUnit)")
        await _follow(found, held.get_by_role("link", name="Mara: I joined a pottery class"), by_keys)
        quote = page.locator(".value mark")
        await expect(quote).to_have_text(_QUOTE)
        await expect(quote).to_be_in_viewport()
        await page.go_back()
        await expect(page).to_have_url(failure)
        await found.loaded()
        if by_keys:
            await page.keyboard.press("6")
            await page.keyboard.press("w")
            await page.keyboard.type("The gold answer is old.")
            await page.keyboard.press("Control+Enter")
        else:
            await page.get_by_label("Annotation error").check()
            await page.get_by_label("Why?").fill("The gold answer is old.")
            await page.get_by_role("button", name="Save verdict").click()
        await expect(page.get_by_role("status")).to_contain_text("saved")
        await _follow(found, page.get_by_role("link", name="Failures", exact=True).first, by_keys)
        await found.is_at(f"{base}/failures")
        following = page.locator(".case h2 a").filter(has_not_text=_QUESTION).first
        question = await following.inner_text()
        await _follow(found, following, by_keys)
        await expect(page.get_by_role("heading", level=1)).to_have_text(question)
