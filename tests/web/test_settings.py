"""Settings and jobs in a real browser: an admin makes and revokes keys; a writer starts and stops a job."""

from __future__ import annotations

import json
import re
from secrets import token_hex
from urllib.parse import quote

import httpx
import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, expect

from tests.graphql.world import World, make_world
from tests.server.running import RunningServer
from tests.web.looking import looking
from tests.web.test_doors import OWN_PAGE, visitor
from tests.web.test_looking import RULES

pytestmark = pytest.mark.one_engine

_POLICY = "query($p: String!) { project(name: $p) { retention { days traces changedBy } } }"


@pytest.fixture(scope="module")
def own(server: RunningServer) -> World:
    """A project for this module alone, on each engine; this server runs its jobs."""
    return make_world(server, server.project)


async def test_an_admin_makes_a_key_and_revokes_it(browser: Browser, own: World) -> None:
    there = f"/ui/projects/{own.project}/settings"
    name = f"for Ana {token_hex(4)}"
    async with looking(browser, own.server) as found:
        page = found.page
        await found.goto(f"/ui/sign-in?next={quote(there)}")
        await found.sign_in(own.server.key("admin", own.project))
        await found.is_at(there)
        await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        broken = await Axe().run(page, options=RULES)
        assert broken.violations_count == 0, broken.generate_report()
        await page.reload()
        await page.get_by_label("What it is for").fill(name)
        await page.get_by_label("What it may do").select_option("writer")
        await page.get_by_label("Whose it is").fill("Ana")
        await page.get_by_label("Days until it expires").fill("30")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("status")).to_contain_text(f"The key “{name}” is made")
        secret = await page.locator("#made ~ p code").inner_text()
        assert secret not in own.server.log_text
        with visitor(own.server, secret) as ana:
            assert "Ana" in ana.get("/ui/me").text
            assert (
                ana.post(f"/ui/projects/{own.project}/keys/new", data={"role": "admin"}, headers=OWN_PAGE).status_code
                == 400
            )
            seen = ana.get(there)
            assert "Keys are for admins" in seen.text
            assert name not in seen.text
        row = page.locator("tbody tr", has_text=name)
        await expect(row).to_contain_text("writer")
        await row.locator("summary").focus()
        await page.keyboard.press("Enter")
        await row.get_by_role("button", name="Revoke it").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("status")).to_contain_text("The key is revoked")
        await expect(page.locator("tbody tr", has_text=name)).to_contain_text("revoked")
        assert secret not in await page.content()


async def test_an_admin_says_how_long_traces_are_kept(browser: Browser, own: World) -> None:
    there = f"/ui/projects/{own.project}/settings"
    async with looking(browser, own.server) as found:
        page = found.page
        await found.goto(f"/ui/sign-in?next={quote(there)}")
        await found.sign_in(own.server.key("admin", own.project))
        await found.is_at(there)
        kept = page.get_by_role("region").or_(page.locator("section", has=page.locator("#retention")))
        await expect(kept.last).to_contain_text("For good.")
        await page.get_by_label("Days", exact=True).fill("400")
        await page.get_by_label("Traces", exact=True).fill("9000")
        await page.get_by_role("button", name="Set", exact=True).click()
        await expect(page.locator("section", has=page.locator("#retention"))).to_contain_text("400 days")
        policy = own.ask(_POLICY, {"p": own.project})["project"]["retention"]
        assert (policy["days"], policy["traces"], policy["changedBy"][:4]) == (400, 9000, "key:")
        await page.get_by_label("Days", exact=True).fill("")
        await page.get_by_label("Traces", exact=True).fill("")
        await page.get_by_role("button", name="Set", exact=True).click()
        await expect(page.locator("section", has=page.locator("#retention"))).to_contain_text("For good.")
        assert own.ask(_POLICY, {"p": own.project})["project"]["retention"] is None


def test_what_can_not_be_set_is_told(own: World) -> None:
    base = f"/ui/projects/{own.project}"
    key = {"name": "x", "role": "reader", "person": "", "days": ""}
    wrong = [
        (f"{base}/keys/new", key | {"name": ""}),
        (f"{base}/keys/new", key | {"role": "owner"}),
        (f"{base}/keys/new", key | {"days": "0"}),
        (f"{base}/keys/new", key | {"days": "99999999"}),
        (f"{base}/settings/retention", {"days": "x", "traces": ""}),
        (f"{base}/settings/retention", {"days": "", "traces": "-1"}),
    ]
    with visitor(own.server, own.server.key("admin", own.project)) as admin:
        for address, form in wrong:
            answer = admin.post(address, data=form, headers=OWN_PAGE)
            assert (answer.status_code, 'role="alert"' in answer.text) == (400, True), (address, form)
            assert admin.post(address, data=form).status_code == 403
        assert admin.post(f"{base}/keys/{'0' * 16}/revoke", headers=OWN_PAGE).status_code == 404
    with visitor(own.server, own.server.key("writer", own.project)) as writer:
        assert writer.post(f"{base}/settings/retention", data={"days": "1"}, headers=OWN_PAGE).status_code == 400
        assert writer.post(f"{base}/keys/{own.ids['key']}/revoke", headers=OWN_PAGE).status_code == 403
    assert own.ask(_POLICY, {"p": own.project})["project"]["retention"] is None


async def test_causes_are_found_for_those_that_match(browser: Browser, own: World) -> None:
    there = f"/ui/projects/{own.project}/failures?type=RetrievalError"
    async with looking(browser, own.server) as found:
        page = found.page
        await found.goto(f"/ui/sign-in?next={quote(there)}")
        await found.sign_in(own.server.key("writer", own.project))
        await found.is_at(there)
        await page.get_by_role("button", name="Find the causes of those that match").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Finding the causes")
        await expect(page.locator('[data-part="state"]')).to_contain_text("1 of 1 failure")
        await expect(page.get_by_role("heading", level=2)).to_have_text("Done")
        await expect(page.get_by_role("link", name="Retrieval error")).to_be_visible()
        await expect(page.get_by_role("button", name="Stop it")).to_have_count(0)
        await page.get_by_role("link", name="Jobs", exact=True).click()
        await expect(page.locator("tbody tr").first).to_contain_text("Finding the causes")


async def test_a_job_is_stopped(browser: Browser, lone: World) -> None:
    """This server runs no jobs of the project, so the job waits until somebody stops it."""
    async with looking(browser, lone.server) as found:
        page = found.page
        await found.goto(f"/ui/sign-in?next={quote(f'/ui/projects/{lone.project}/failures')}")
        await found.sign_in(lone.server.key("writer", lone.project))
        await found.is_at(f"/ui/projects/{lone.project}/failures")
        await page.get_by_role("button", name="Find the causes").click()
        await expect(page.locator('[data-part="state"]')).to_contain_text("It waits for its turn.")
        await page.get_by_role("button", name="Stop it").click()
        await expect(page.get_by_role("heading", level=2)).to_have_text("Stopped")
        await expect(page.get_by_role("button", name="Stop it")).to_have_count(0)


def test_failures_are_saved_as_a_file(own: World) -> None:
    base = f"/ui/projects/{own.project}/failures"
    with visitor(own.server, own.server.key("reader", own.project)) as client:
        every = client.get(f"{base}/saved")
        assert every.headers["content-disposition"].startswith("attachment")
        lines = [json.loads(line) for line in every.text.splitlines()]
        assert len(lines) == 3
        assert {one["verdicts"][0]["errorType"] for one in lines} == {
            "ExtractionError",
            "RetrievalError",
            "UpdateError",
        }
        some = client.get(f"{base}/saved?type=RetrievalError").text.splitlines()
        assert [json.loads(line)["id"] for line in some] == [
            one["id"] for one in lines if one["verdicts"][0]["errorType"] == "RetrievalError"
        ]
        assert client.get(f"{base}/saved?trace=nowhere").status_code == 200
        assert "Find the causes" not in client.get(base).text


def test_what_is_attributed_is_what_matches(own: World) -> None:
    base = f"/ui/projects/{own.project}/jobs"
    with visitor(own.server, own.server.key("writer", own.project)) as client:

        def start(**form: str) -> httpx.Response:
            return client.post(f"{base}/attribute", data=form, headers=OWN_PAGE)

        assert start(how="magic").status_code == 400
        assert "No failure matches" in start(text="nowhere-at-all").text
        started = start(text="WALNUTS")
        job = re.search(r"/jobs/(\w+)$", started.headers["location"])
        assert job is not None
        asked = "query($p: String!, $i: ID!) { project(name: $p) { job(id: $i) { arguments } } }"
        said = own.ask(asked, {"p": own.project, "i": job[1]})["project"]["job"]["arguments"]
        assert (len(said["failure_ids"]), said["trace_id"], said["method"]) == (1, None, "flow")
        assert client.get(f"{base}/{'0' * 32}").status_code == 404
    with visitor(own.server, own.server.key("reader", own.project)) as reader:
        assert reader.post(f"{base}/attribute", data={"how": "flow"}, headers=OWN_PAGE).status_code == 403
