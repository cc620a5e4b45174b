"""Pages about runs in a real browser: two traces compared, a memory at a moment, and a trace that is being recorded."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from secrets import token_hex
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, Locator, expect

from tests.server.running import RunningServer
from tests.server.wire_events import event, lines, send
from tests.web.looking import Looking, looking
from tests.web.runs import Runs, make_runs

pytestmark = pytest.mark.one_engine


@pytest.fixture(scope="module")
def runs(server: RunningServer) -> Runs:
    """Two runs in a project of their own, on each engine."""
    return make_runs(server)


async def _signed_in(found: Looking, project: str, address: str) -> None:
    await found.goto(f"/ui/sign-in?next={quote(address)}")
    await found.sign_in(found.server.key("reader", project))
    await found.is_at(address)


async def test_two_runs_are_compared_by_keys_alone(browser: Browser, runs: Runs) -> None:
    base = f"/ui/projects/{runs.project}/compare"
    async with looking(browser, runs.server) as found:
        page = found.page
        await _signed_in(found, runs.project, base)
        await page.get_by_label("First").focus()
        await page.keyboard.type("the before")
        await page.keyboard.press("Tab")
        await page.keyboard.type("the after")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await found.is_at(f"{base}?before={runs.ids['before']}&after={runs.ids['after']}")
        for name, count in (("Fixed", "1"), ("Broken", "1"), ("Still wrong", "1"), ("Still right", "1")):
            await expect(page.locator(".totals div", has_text=name).locator("dd")).to_have_text(count)
        await expect(page.locator(".note")).to_contain_text("probability of 1 if both are equally good")
        case = page.locator(".case")
        await expect(case.get_by_role("heading", level=2)).to_have_text("Where does Ana live?")
        await expect(case.locator("del")).to_have_text("Porto")
        await expect(case.locator("ins")).to_have_text("Lisbon")
        await expect(case.locator(".side").first).to_contain_text("✗ wrong")
        await expect(case.locator(".side").last).to_contain_text("✓ right")
        await page.get_by_role("link", name="Still wrong").focus()
        await page.keyboard.press("Enter")
        await expect(case.get_by_role("heading", level=2)).to_have_text("When does Ana fly?")
        await expect(case.get_by_role("link", name="The failure")).to_have_count(2)
        await case.get_by_role("link", name="The failure").first.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("When does Ana fly?")


async def test_two_runs_are_compared_by_mouse(browser: Browser, runs: Runs) -> None:
    base = f"/ui/projects/{runs.project}/compare"
    async with looking(browser, runs.server) as found:
        page = found.page
        await _signed_in(found, runs.project, f"/ui/projects/{runs.project}")
        await page.get_by_role("link", name="Compare", exact=True).click()
        await page.get_by_label("First").select_option(runs.ids["before"])
        await page.get_by_label("Second").select_option(runs.ids["after"])
        await page.get_by_role("button", name="Compare").click()
        await found.is_at(f"{base}?before={runs.ids['before']}&after={runs.ids['after']}")
        await page.get_by_role("link", name="Broken").click()
        case = page.locator(".case")
        await expect(case.get_by_role("heading", level=2)).to_have_text("What is Ana's cat called?")
        await case.get_by_role("link", name="The failure").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("What is Ana's cat called?")


async def test_two_methods_are_compared_with_people(browser: Browser, runs: Runs) -> None:
    async with looking(browser, runs.server) as found:
        await _signed_in(found, runs.project, f"/ui/projects/{runs.project}/compare?by=methods&before=flow&after=llm")
        page = found.page
        await expect(page.locator(".totals div", has_text="Only the second is right").locator("dd")).to_have_text("4")
        await expect(page.locator(".case")).to_have_count(4)
        await expect(page.locator(".case").first).to_contain_text("Update error at remember")
        await expect(page.locator(".case").first).to_contain_text("Deletion error at forget")


@pytest.mark.parametrize("by_keys", [False, True], ids=["mouse", "keys"])
async def test_two_methods_are_chosen_and_compared(browser: Browser, runs: Runs, by_keys: bool) -> None:
    base = f"/ui/projects/{runs.project}/compare"
    async with looking(browser, runs.server) as found:
        page = found.page
        await _signed_in(found, runs.project, base)

        async def use(link: Locator) -> None:
            await expect(link).to_be_visible()
            await found.loaded()
            await (link.press("Enter") if by_keys else link.click())

        await use(page.get_by_role("link", name="Two methods"))
        await expect(page).to_have_url(re.compile("by=methods"))
        await found.loaded()
        for label, method in (("First", "flow"), ("Second", "llm")):
            if by_keys:
                choice = page.get_by_label(label)
                await choice.focus()
                await page.keyboard.type(await choice.locator(f"option[value={method}]").inner_text())
            else:
                await page.get_by_label(label).select_option(method)
        await use(page.get_by_role("button", name="Compare"))
        await expect(page.locator(".totals div", has_text="Only the second is right").locator("dd")).to_have_text("4")
        await use(page.locator(".case").first.get_by_role("link").first)
        await expect(page).to_have_url(re.compile("/failures/"))


async def test_a_memory_is_seen_at_a_moment(browser: Browser, runs: Runs) -> None:
    memory = f"/ui/projects/{runs.project}/traces/{runs.ids['before']}/memory"
    async with looking(browser, runs.server, width=390) as found:
        page = found.page
        await _signed_in(found, runs.project, memory)
        await expect(page.locator("#moment")).to_contain_text("1 memory unit, and 1 that had been deleted")
        slider = page.get_by_role("slider")
        await slider.focus()
        await page.keyboard.press("Home")
        await expect(page.locator("#moment")).to_contain_text("2 memory units")
        await expect(page.locator("#moment")).to_contain_text("Ana lives in Porto.")
        await expect(page).to_have_url(f"{runs.server.url}{memory}?asOf=0")
        await page.keyboard.press("ArrowRight")
        await expect(page.locator("#moment")).to_contain_text("Ana lives in Porto with Miso.")
        await expect(slider).to_be_focused()
        # The same by mouse: the first moment, and back.
        box = await slider.bounding_box()
        assert box is not None
        await page.mouse.click(box["x"] + 1, box["y"] + box["height"] / 2)
        await expect(page).to_have_url(f"{runs.server.url}{memory}?asOf=0")
        await expect(page.locator("#moment")).to_contain_text("Ana lives in Porto.")
        await page.keyboard.press("ArrowRight")
        await expect(page.locator("#moment")).to_contain_text("Ana lives in Porto with Miso.")
        await page.get_by_role("link", name="Ana lives in Porto with Miso.").first.click()
        await expect(page.locator(".history .now")).to_contain_text("Version 2")
        await expect(page.locator(".history .later del")).to_have_text("Porto")
        await expect(page.locator(".history .later ins")).to_have_text("Lisbon")
        await expect(page.locator(".history .later li")).to_contain_text("ana: Ana lives in Lisbon with Miso.")
        await expect(page.get_by_role("region", name="Answers that rest on it")).to_contain_text("✗ wrong Porto")
        address = page.url
    # Without scripts the address shows the same moment, and a form changes it.
    context = await browser.new_context(java_script_enabled=False)
    plain = await context.new_page()
    await plain.goto(f"{runs.server.url}/ui/sign-in")
    await plain.get_by_label("API key").fill(runs.server.key("reader", runs.project))
    await plain.get_by_role("button", name="Sign in").click()
    await plain.goto(address)
    await expect(plain.locator(".history .now")).to_contain_text("Version 2")
    await plain.get_by_role("button", name="Show").click()
    assert "asOf=1" in plain.url
    await plain.goto(f"{runs.server.url}{memory}?asOf=soon")
    await expect(plain.get_by_role("alert")).to_contain_text("“soon”, which the address gives as asOf, is no step")
    await context.close()


def _now() -> str:
    """The present time: a trace is live for an hour after the start of an operation without an end."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


async def test_a_trace_is_seen_while_it_is_recorded(browser: Browser, server: RunningServer) -> None:
    project, trace = f"live-{token_hex(4)}", "live"

    async def record(*events: dict[str, object]) -> None:
        answer = await asyncio.to_thread(send, server, lines(*events), project=project)
        assert answer.status_code == 200, answer.text

    begun = event("operationStarted", trace, operation="o1", name="think", kind="Generation", time=_now())
    inside = event(
        "operationStarted", trace, operation="o2", name="look up", kind="Retrieval", parent="o1", time=_now()
    )
    await record(event("trace", trace, name="a live one"), begun, inside)
    async with looking(browser, server) as found:
        page = found.page
        await _signed_in(found, project, f"/ui/projects/{project}")
        link = page.get_by_role("link", name="a live one")
        for _ in range(50):
            if await link.count():
                break
            await page.reload()
        await link.focus()
        await page.keyboard.press("Enter")
        steps = page.locator(".steps > li")
        await expect(page.get_by_role("status")).to_contain_text("is being recorded")
        await expect(steps).to_have_count(2)
        await expect(page.locator(".steps .inside-1")).to_contain_text("look up")
        await page.locator("summary", has_text="think").focus()
        await page.keyboard.press("Enter")
        failed = {"type": "TimeoutError", "message": "<b>too slow</b>"}
        await record(
            event("operationEnded", trace, operation="o2", status="error", error=failed, time=_now()),
            event("operationStarted", trace, operation="o3", name="answer", kind="Generation", time=_now()),
        )
        await expect(steps).to_have_count(3)
        await expect(steps.last).to_contain_text("answer")
        await expect(page.locator(".steps .inside-1")).to_contain_text("✗ with an error")
        # A reload changes nothing for the reader: open parts stay open, and the focus stays.
        await expect(page.locator("details[open] summary", has_text="think")).to_be_focused()
        await expect(page.locator(".totals div", has_text="Operations").locator("dd")).to_have_text("3")
        await page.locator("summary", has_text="look up").click()
        await expect(page.locator(".steps")).to_contain_text("TimeoutError: <b>too slow</b>")
        await page.get_by_role("link", name="Stop following").click()
        await expect(page.locator("[data-live]")).to_have_count(0)


async def test_the_overview_and_the_failures_follow_what_is_recorded(browser: Browser, server: RunningServer) -> None:
    project, trace = f"live-{token_hex(4)}", "live"

    async def record(*events: dict[str, object]) -> None:
        answer = await asyncio.to_thread(send, server, lines(*events), project=project)
        assert answer.status_code == 200, answer.text

    def wrong(name: str) -> list[dict[str, object]]:
        plain: dict[str, object] = {"version": 0, "mediaType": "text/plain"}
        said = {f"q-{name}": ("Query", f"What is {name}?"), f"a-{name}": ("Answer", f"It is {name}.")}
        variables = [
            event("variable", trace, variable=id_, name=id_, kind=kind, value=text, **plain)
            for id_, (kind, text) in said.items()
        ]
        return [*variables, event("feedback", trace, question=f"q-{name}", answer=f"a-{name}", gold=["no"])]

    begun = event("operationStarted", trace, operation="o1", name="think", kind="Generation", time=_now())
    await record(event("trace", trace, name="a live one"), begun, *wrong("one"))
    async with looking(browser, server) as overview, looking(browser, server) as failures:
        await _signed_in(overview, project, f"/ui/projects/{project}")
        await _signed_in(failures, project, f"/ui/projects/{project}/failures")
        for found in (overview, failures):
            for _ in range(50):
                if await found.page.get_by_role("status").count():
                    break
                await found.page.reload()
            await expect(found.page.get_by_role("status")).to_contain_text("1 trace here is being recorded")
        cases = failures.page.locator(".case")
        await expect(cases).to_have_count(1)
        link = cases.first.get_by_role("link", name="What is one?")
        await link.focus()
        await record(*wrong("two"))
        await expect(cases).to_have_count(2)
        await expect(cases.last).to_contain_text("What is two?")
        await expect(link).to_be_focused()
        count = overview.page.locator(".totals div", has_text="Failures").locator("dd")
        await expect(count).to_have_text("2")
        for found in (overview, failures):
            await found.page.get_by_role("link", name="Stop following").click()
            await expect(found.page.locator("[data-live]")).to_have_count(0)
            await found.page.get_by_role("link", name="Follow", exact=True).click()
            await expect(found.page.locator("[data-live]")).to_have_count(1)
