"""The pages in a real browser: a person finds a failure, sees its cause, and records a verdict; also by keyboard."""

from __future__ import annotations

import asyncio
import re
from typing import Literal

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, expect

from tests.graphql.world import World
from tests.web.addresses import OPEN, OWN, addresses
from tests.web.looking import looking

pytestmark = pytest.mark.one_engine

RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],  # other rules are only listed, which takes longer than checking
}
_QUESTION = "On which day of the week is Mara's pottery class?"
_PIECE = "I joined a pottery class on Thursday evenings at the Kiln House."
_VERDICTS = """query($f: String!) {
  project { failure(reference: $f) { verdicts { method errorType operationId reason } } }
}"""
_NEW_KEY = """mutation($p: String!) {
  createKey(project: $p, name: "short", role: writer) { ... on KeyCreated { secret key { id } } }
}"""
_UNAUTHORIZED = "status of 401"


async def test_a_person_finds_a_failure_and_judges_it(browser: Browser, world: World) -> None:
    base = f"/ui/projects/{world.project}"
    key = world.server.key("writer", world.project)
    async with looking(browser, world.server, _UNAUTHORIZED) as found:
        page = found.page
        await found.goto("/")
        await found.is_at("/ui/sign-in?next=%2Fui")
        await found.sign_in("mt_" + "0" * 16 + "_" + "a" * 43)
        await expect(page.get_by_role("alert")).to_contain_text("unknown")
        await found.sign_in(key)
        await found.is_at(base)
        assert await page.evaluate("document.cookie") == ""
        await page.get_by_role("link", name="1: Update error at memory_system.update_memory_decision").click()
        await expect(page.get_by_label("Error type")).to_have_value("UpdateError")
        await expect(page.locator(".case")).to_have_count(1)
        await page.get_by_role("link", name=_QUESTION).click()
        await expect(page.get_by_role("heading", level=1)).to_have_text(_QUESTION)
        broken = page.locator(".way .lost")
        await expect(broken).to_contain_text("lost here")
        held = page.locator(".way .held:has(.kind-MemoryUnit)")
        await expect(held.locator("mark")).to_have_text(
            "I joined a pottery class on Thursday evenings at the Kiln House."
        )
        await held.get_by_role("link", name="Mara: I joined a pottery class").click()
        await expect(page.locator(".value mark")).to_contain_text("Thursday evenings")
        await page.get_by_role("link", name="Version 2", exact=True).click()
        await page.get_by_role("link", name="what differs").click()
        await expect(page.locator(".diff del")).to_contain_text(["Thursday"], use_inner_text=True)
        await page.go_back()
        assert not [url for url in found.asked if key in url]


async def test_a_verdict_is_given_by_keys_alone(browser: Browser, world: World) -> None:
    listed = world.ask("{ project { failures(first: 100) { nodes { id question } } } }")["project"]["failures"]["nodes"]
    (judged,) = [one["id"] for one in listed if one["question"] == _QUESTION]  # its operation `a` makes updates
    failure = f"/ui/projects/{world.project}/failures/{judged}"
    async with looking(browser, world.server, "status of 400") as found:
        page = found.page
        await found.goto(f"/ui/sign-in?next={failure}")
        await page.keyboard.type(world.server.key("writer", world.project))
        await page.keyboard.press("Enter")
        await found.is_at(failure)
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="To the content")).to_be_focused()
        await page.keyboard.press("w")
        await page.keyboard.press("Control+Enter")
        await expect(page.get_by_role("alert")).to_contain_text("Choose what went wrong")
        await found.loaded()
        # A digit leaves the operations that can make such an error, and chooses the one of the verdict on the page.
        search = page.locator(".judge [data-kind=Retrieval]")
        await expect(search).to_be_visible()
        await page.keyboard.press("2")
        await expect(page.get_by_label("Update error")).to_be_checked()
        await expect(search).to_be_hidden()
        await expect(page.locator(".judge [data-blamed]")).to_be_checked()
        await page.keyboard.press("4")
        await expect(page.locator(".judge [data-blamed]")).not_to_be_checked()
        await expect(page.locator("input[name=operation]:checked")).to_have_count(0)
        await page.keyboard.press("2")
        await page.keyboard.press("a")
        await page.keyboard.press("w")
        await page.keyboard.type("The 7 words of a are gone.")
        await page.keyboard.press("Control+Enter")
        await expect(page.get_by_role("status")).to_contain_text("saved")
        await expect(page.get_by_label("Update error")).to_be_checked()
        await expect(page.get_by_label("Why?")).to_have_value("The 7 words of a are gone.")
        chosen = page.locator("input[name=operation]:checked")
        await expect(chosen).to_have_attribute("data-key", "a")
        blamed = await chosen.get_attribute("value")
        # The draft is still there when the user comes back.
        await found.goto(failure)
        await expect(page.locator("#verdict")).to_contain_text("You have given one. Saving again replaces it.")
        await expect(page.get_by_label("Why?")).to_have_value("The 7 words of a are gone.")
    asked = (
        "query($f: String!) { project { failure(reference: $f) { verdicts { method errorType operationId reason } } } }"
    )
    failed = world.ask(asked, {"f": judged})["project"]["failure"]
    (verdict,) = [one for one in failed["verdicts"] if one["method"] == "human"]
    assert verdict == {
        "method": "human",
        "errorType": "UpdateError",
        "operationId": blamed,
        "reason": "The 7 words of a are gone.",
    }


async def test_every_page_keeps_the_rules_and_can_be_read_by_all(browser: Browser, world: World) -> None:
    """No violation of the policy, no error, no request elsewhere, no violation of axe's rules.

    Axe is slow, so it checks each page in one of two cases in turn, unless the run is in full.
    """
    axe = Axe()
    cases: list[tuple[int, Literal["light", "dark"]]] = [(1280, "light"), (390, "dark")]
    for turn, (width, scheme) in enumerate(cases):
        async with looking(browser, world.server, "status of 404", width=width, scheme=scheme) as found:
            pages = {**OPEN, **OWN, **addresses(world), "nothing": "/ui/nothing"}
            for name, address in OPEN.items():
                assert (await found.goto(address)).status == 200, name
                broken = await axe.run(found.page, options=RULES)
                assert broken.violations_count == 0, (name, scheme, width, broken.generate_report())
            await found.goto("/ui/sign-in")
            await found.sign_in(world.server.key("writer", world.project))
            await found.is_at(f"/ui/projects/{world.project}")
            for number, (name, address) in enumerate(pages.items()):
                answer = await found.goto(address)
                assert answer.status == (404 if name == "nothing" else 200), name
                if number % len(cases) == turn:
                    broken = await axe.run(found.page, options=RULES)
                    assert broken.violations_count == 0, (name, scheme, width, broken.generate_report())
                wide = await found.page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, (name, width)
                text = await found.page.locator("main").inner_text()
                assert not re.search(r"\b[0-9a-f]{32}\b", text.replace(world.project, "")), name


async def test_what_is_typed_outlives_the_key(browser: Browser, lone: World) -> None:
    """A key expires while a user writes: after signing in again, the page and the text are back."""
    failure = f"/ui/projects/{lone.project}/failures/{lone.ids['failure']}"
    made = lone.ask(_NEW_KEY, {"p": lone.project}, "admin")["createKey"]
    async with looking(browser, lone.server, "Clear-Site-Data") as found:
        page = found.page
        await found.goto(f"/ui/sign-in?next={failure}")
        await found.sign_in(made["secret"])
        await found.is_at(failure)
        await page.get_by_label("Deletion error").check()
        await page.get_by_label("Why?").fill("half a sent")
        revoke = "mutation($p: String!, $k: ID!) { revokeKey(project: $p, id: $k) { __typename } }"
        lone.ask(revoke, {"p": lone.project, "k": made["key"]["id"]}, "admin")
        await page.wait_for_timeout(5500)  # a revoked key may be accepted for so long
        await page.get_by_role("button", name="Save verdict").click()
        await expect(page.get_by_role("status")).to_contain_text("expired or was revoked")
        await found.sign_in(lone.server.key("writer", lone.project))
        await found.is_at(failure)
        await expect(page.get_by_label("Why?")).to_have_value("half a sent")
        await expect(page.get_by_label("Deletion error")).to_be_checked()
        await found.goto("/ui/me")
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("status")).to_contain_text("signed out")
        assert await page.evaluate("sessionStorage.length") == 0
        await found.goto(failure)
        await found.is_at(f"/ui/sign-in?next={failure.replace('/', '%2F')}")


async def test_other_sites_may_link_and_not_post(browser: Browser, lone: World) -> None:
    """Browsers take 127.0.0.1 and localhost for two sites."""
    failure = f"/ui/projects/{lone.project}/failures/{lone.ids['failure']}"
    there, key = lone.server.url + failure, lone.server.key("reader")
    page_of_others = f"""<a href="{there}">look</a> <iframe src="{lone.server.url}/ui/help"></iframe>
        <form method="post" action="{there}/verdict">
        <input name="type" value="unknown"><button>win</button></form>
        <form method="post" action="{lone.server.url}/ui/sign-in">
        <input name="key" value="{key}"><button>in</button></form>"""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = page_of_others.encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    elsewhere = await asyncio.start_server(answer, "localhost", 0)
    theirs = f"http://localhost:{elsewhere.sockets[0].getsockname()[1]}/"
    async with elsewhere, looking(browser, lone.server, "status of 40", "frame-ancestors", "X-Frame-Options") as found:
        page = found.page
        await found.goto("/ui/sign-in")
        await found.sign_in(lone.server.key("writer", lone.project))
        await found.is_at(f"/ui/projects/{lone.project}")
        await page.goto(theirs)
        # Other sites can't show our pages in a frame, where they could mislead clicks.
        (framed,) = [frame for frame in page.frames if frame is not page.main_frame]
        assert not framed.url.startswith(lone.server.url)
        assert "MemTrace" not in await framed.content()
        await page.get_by_role("link", name="look").click()
        await found.is_at(failure)
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        for name in ("win", "in"):
            await page.goto(theirs)
            async with page.expect_response(lambda answer: answer.request.method == "POST") as posted:
                await page.get_by_role("button", name=name, exact=True).click()
            assert (await posted.value).status == 403
            await expect(page.locator("main")).to_contain_text("another site")
        found.asked = [url for url in found.asked if not url.startswith(theirs)]


@pytest.mark.parametrize("is_own", [True, False])
async def test_graphql_takes_the_cookie_of_our_own_pages_alone(browser: Browser, lone: World, is_own: bool) -> None:
    asked = """async (url) => {
        const answer = await fetch(`${url}/graphql`, {
            method: "POST", credentials: "include", mode: "cors",
            headers: { "Content-Type": "application/json" }, body: '{"query": "{ viewer { actor } }"}' });
        return answer.status;
    }"""
    listened = """(url) => new Promise((done) => {
        const socket = new WebSocket(`${url.replace("http", "ws")}/graphql`, "graphql-transport-ws");
        socket.onopen = () => socket.send('{"type": "connection_init"}');
        socket.onmessage = (event) => done(JSON.parse(event.data).type);
        socket.onclose = (event) => done(event.code);
        socket.onerror = () => done("error");
    })"""
    # Without a policy, a page of ours can do what the pages' policy forbids.
    context = await browser.new_context(bypass_csp=True)
    page = await context.new_page()
    await page.goto(f"{lone.server.url}/ui/sign-in")
    await page.get_by_label("API key").fill(lone.server.key("writer", lone.project))
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url(f"**/ui/projects/{lone.project}")
    if not is_own:
        await page.goto(f"{lone.server.url.replace('127.0.0.1', 'localhost')}/ui/sign-in")
    if is_own:
        assert await page.evaluate(asked, lone.server.url) == 200
        assert await page.evaluate(listened, lone.server.url) == "connection_ack"
    else:
        # Browsers may hide the answer from the page, so the test reads the server's log.
        with pytest.raises(Exception, match="Failed to fetch"):
            await page.evaluate(asked, lone.server.url)
        assert await page.evaluate(listened, lone.server.url) != "connection_ack"
    await context.close()
