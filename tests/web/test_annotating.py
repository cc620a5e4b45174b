"""Annotating as a team in a real browser: two people who don't see each other's verdicts, and a third who decides."""

from __future__ import annotations

import json
import re
from secrets import token_hex
from typing import Literal

import apsw
import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, expect

from tests.graphql.world import World
from tests.web.looking import Looking, looking
from tests.web.team import Team, keys_of, make_team
from tests.web.test_doors import OWN_PAGE, visitor
from tests.web.test_looking import RULES

pytestmark = pytest.mark.one_engine

_METHOD_SAYS = "Verdict by flow"
_END = re.compile("Nothing is left for you|All cases of this queue are done")
_STATE = """query($p: String!, $q: String!, $f: String!) { project(name: $p) {
  failure(reference: $f) { verdicts { author errorType reason candidates { errorType } evidence { variableId } } }
  annotationQueue(reference: $q) { progress { done } disputes { nodes { adjudicated { author errorType } } } } } }"""


async def _enter(found: Looking, team: Team, person: str) -> None:
    await found.goto(f"/ui/sign-in?next={team.base}")
    await found.sign_in(team.keys[person])
    await found.is_at(team.base)


async def test_two_annotate_blind_and_a_third_decides_by_mouse(browser: Browser, shared: World) -> None:
    keys, name = keys_of(shared, "Ada", "Ben", "Dan"), f"by mouse {token_hex(4)}"
    async with looking(browser, shared.server, "status of 400") as found:
        page = found.page
        await found.goto("/ui")
        await found.sign_in(keys["Dan"])
        await page.get_by_role("link", name="Annotate", exact=True).click()
        await page.get_by_label("Name", exact=True).fill(name)
        await page.get_by_label("Cases at most").fill("1")
        await page.get_by_label("Who annotates").fill("Ada\nBen\nBen\n")
        await page.get_by_label("People a case").fill("3")
        await page.get_by_role("button", name="Make the queue").click()
        await expect(page.get_by_role("alert")).to_contain_text("2 people are too few")
        await found.loaded()
        await expect(page.get_by_label("Who annotates")).to_have_value("Ada\nBen\nBen\n")
        await page.get_by_label("People a case").fill("2")
        await page.get_by_role("button", name="Make the queue").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text(name)
        await expect(page.get_by_text("This queue is for the people who are named in it")).to_be_visible()
        team = Team(shared, keys, page.url.rpartition("/")[2])
    for person, kind, why in (("Ada", "Annotation error", "The gold answer is old."), ("Ben", "Update error", "Gone.")):
        async with looking(browser, shared.server) as found:
            page = found.page
            await _enter(found, team, person)
            await page.get_by_role("button", name="Start annotating").click()
            await expect(page.get_by_text("Kept for you for")).to_be_visible()
            text = await page.locator("main").inner_text()
            assert _METHOD_SAYS not in text
            assert "The gold answer is old." not in text
            assert "needed fact" not in text
            await expect(page.get_by_role("link", name="The graph")).to_be_visible()
            await expect(page.get_by_role("heading", name="Evidence", exact=True)).to_be_visible()
            case = page.url
            await page.get_by_label(kind).check()
            if kind == "Update error":
                await page.get_by_role("radio", name=re.compile("update_memory_decision")).first.check()
                await page.get_by_text("Which texts show it?").click()
                await page.get_by_role("checkbox").first.check()
                await page.get_by_text("Would you accept another verdict").click()
                await page.get_by_label("What went wrong", exact=True).select_option("LLMAsAJudgeError")
            await page.get_by_label("Why?").fill(why)
            await page.get_by_role("button", name="Save and go to the next").click()
            await expect(page.get_by_text(_END)).to_be_visible()
            await page.goto(case)
            await expect(page.get_by_text("You have submitted this")).to_be_visible()
            await expect(page.get_by_text(_METHOD_SAYS)).to_be_visible()
    failure = case.rpartition("/")[2]
    async with looking(browser, shared.server) as found:
        page = found.page
        await _enter(found, team, "Dan")
        await page.locator("#disputes + ul a").first.click()
        for side in ("A", "B"):
            await expect(page.get_by_role("heading", name=f"Annotator {side}")).to_be_visible()
        text = await page.locator("section[aria-labelledby=sides]").inner_text()
        assert {"Ada", "Ben"}.isdisjoint(text.split())
        assert "The gold answer is old." in text
        await page.get_by_label("Annotation error").check()
        await page.get_by_label("Why?").fill("It is out of date.")
        await page.get_by_role("button", name="Save the final word").click()
        await expect(page.get_by_text("✓ decided:")).to_be_visible()
        await found.goto(f"/ui/projects/{shared.project}/failures/{failure}")
        history = page.locator("section[aria-labelledby=history]")
        for person in ("Ada", "Ben", "Dan the final word"):
            await expect(history.get_by_role("cell", name=person, exact=True).first).to_be_visible()
    told = shared.ask(_STATE, {"p": shared.project, "q": team.queue, "f": failure})["project"]
    (dispute,) = told["annotationQueue"]["disputes"]["nodes"]
    assert dispute["adjudicated"] == {"author": "Dan", "errorType": "AnnotationError"}
    (said,) = [one for one in told["failure"]["verdicts"] if one["author"] == "Ben"]
    assert (said["errorType"], said["candidates"]) == ("UpdateError", [{"errorType": "LLMAsAJudgeError"}])
    assert len(said["evidence"]) == 1


async def test_two_annotate_blind_and_a_third_decides_by_keys_alone(browser: Browser, shared: World) -> None:
    team = make_team(shared, f"by keys {token_hex(4)}", ("Cleo", "Eve"), count=1)
    for person, key in (("Cleo", "6"), ("Eve", "7")):
        async with looking(browser, shared.server, "status of 400") as found:
            page, press = found.page, found.page.keyboard.press
            await found.goto(f"/ui/sign-in?next={team.base}")
            await page.keyboard.type(team.keys[person])
            await press("Enter")
            await found.is_at(team.base)
            await press("n")
            await expect(page.get_by_text("Kept for you for")).to_be_visible()
            await found.loaded()
            assert _METHOD_SAYS not in await page.locator("main").inner_text()
            case = page.url
            failure = case.rpartition("/")[2]
            await press("w")
            await page.keyboard.type("w is a letter")
            await press("Control+Enter")
            await expect(page.get_by_role("alert")).to_contain_text("Choose what went wrong")
            await found.loaded()
            await expect(page.get_by_role("alert")).to_be_in_viewport()
            await press(key)
            await press("e")
            await press("Space")
            await press("e")
            await press("o")
            await page.keyboard.type("Judge" if key == "6" else "Annotation")
            await press("w")
            await press("Control+Enter")
            await expect(page.get_by_text(_END)).to_be_visible()
            await found.loaded()
            await press("u")
            await expect(page.get_by_text("The case is yours again")).to_be_visible()
            await found.loaded()
            await expect(page.get_by_label("Why?")).to_have_value("w is a letter")
            assert _METHOD_SAYS not in await page.locator("main").inner_text()
            await expect(page.get_by_role("checkbox").first).to_be_checked()
            await press("s")
            await expect(page.get_by_text(_END)).to_be_visible()
            await found.loaded()
            await press("u")
            await expect(page.get_by_label("Why?")).to_have_value("w is a letter")
            await found.loaded()
            await expect(page.get_by_text("The case is yours again")).to_be_in_viewport()
            await press("Control+Enter")
            await expect(page.get_by_text(_END)).to_be_visible()
            # A change of a submitted verdict can be undone, too.
            await page.goto(case)
            await found.loaded()
            await press("w")
            await page.keyboard.type("w is no letter")
            await press("Control+Enter")
            await expect(page.get_by_text(_END)).to_be_visible()
            await found.loaded()
            await press("u")
            await expect(page.get_by_label("Why?")).to_have_value("w is a letter")
            if person == "Eve":  # Ben disagrees with her verdict
                await found.goto(f"{team.base}/disputes/{failure}")
                await expect(page.get_by_text("You have judged this case yourself")).to_be_visible()
                # A refused form keeps the typed text.
                written: dict[str, str | float | bool] = {"type": "LLMAsAJudgeError", "reason": "a word too late"}
                refused = await page.request.post(f"{page.url}/verdict", form=written, headers=OWN_PAGE)
                assert refused.status == 400
                assert "a word too late" in await refused.text()
    async with looking(browser, shared.server) as found:
        page, press = found.page, found.page.keyboard.press
        await found.goto(f"/ui/sign-in?next={team.base}")
        await page.keyboard.type(team.keys["Dan"])
        await press("Enter")
        await found.is_at(team.base)
        for _ in range(40):
            await press("Tab")
            if await page.evaluate("document.activeElement.href?.includes('/disputes/') ?? false"):
                break
        await press("Enter")
        await expect(page.get_by_role("heading", name="The final word")).to_be_visible()
        await found.loaded()
        await press("7")
        await press("w")
        await page.keyboard.type("It says the same.")
        await press("Control+Enter")
        await expect(page.get_by_text("✓ decided:")).to_be_visible()
    told = shared.ask(_STATE, {"p": shared.project, "q": team.queue, "f": failure})["project"]
    assert [one["adjudicated"] for one in told["annotationQueue"]["disputes"]["nodes"]] == [
        {"author": "Dan", "errorType": "LLMAsAJudgeError"}
    ]
    (said,) = [one for one in told["failure"]["verdicts"] if one["author"] == "Cleo"]
    assert (said["reason"], said["candidates"]) == ("w is a letter", [{"errorType": "LLMAsAJudgeError"}])
    assert len(said["evidence"]) == 1


async def test_pages_of_a_team_keep_the_rules(browser: Browser, team: Team) -> None:
    """The checks of test_looking for pages that need a person with a case, and a dispute."""
    axe, failure = Axe(), team.next("Ada")
    pages = {"Ada": [team.base, f"{team.base}/cases/{failure}"], "Dan": []}
    disputes = "query($p: String!, $q: String!) { project(name: $p) { annotationQueue(reference: $q) { %s } } }"
    found_ = team.ask("Dan", disputes % "disputes { nodes { failure { id } } }", q=team.queue)["project"]
    disputed = found_["annotationQueue"]["disputes"]["nodes"][0]["failure"]["id"]
    pages["Ada"].append(f"{team.base}/cases/{disputed}")
    pages["Dan"] += [
        f"{team.base}/disputes/{disputed}",
        f"/ui/projects/{team.world.project}/failures/{disputed}",
    ]
    cases: list[tuple[int, Literal["light", "dark"]]] = [(1280, "dark"), (390, "light")]
    for turn, (width, scheme) in enumerate(cases):
        for person, addresses in pages.items():
            async with looking(browser, team.world.server, width=width, scheme=scheme) as found:
                await _enter(found, team, person)
                for number, address in enumerate(addresses):
                    assert (await found.goto(address)).status == 200
                    await found.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
                    if number % len(cases) == turn:
                        broken = await axe.run(found.page, options=RULES)
                        assert broken.violations_count == 0, (address, scheme, width, broken.generate_report())
                    assert await found.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address


async def test_what_is_typed_on_a_case_outlives_the_key_and_the_reservation(browser: Browser, lone: World) -> None:
    team = make_team(lone, f"late {token_hex(4)}", ("Ann", "Bob", "Cid"), failures=[lone.ids["failure"]])
    failure = team.next("Ann")
    made = team.world.ask(
        'mutation($p: String!) { createKey(project: $p, name: "short", role: writer, person: "Ann") '
        "{ ... on KeyCreated { secret key { id } } } }",
        {"p": lone.project},
        "admin",
    )["createKey"]
    case = f"{team.base}/cases/{failure}"
    async with looking(browser, lone.server, "status of 400") as found:
        page = found.page
        await found.goto(f"/ui/sign-in?next={case}")
        await found.sign_in(made["secret"])
        await found.is_at(case)
        await page.get_by_label("Annotation error").check()
        await page.get_by_text("Which texts show it?").click()
        await page.get_by_role("checkbox").first.check()
        await page.get_by_label("Why?").fill("half a sent")
        revoke = "mutation($p: String!, $k: ID!) { revokeKey(project: $p, id: $k) { __typename } }"
        lone.ask(revoke, {"p": lone.project, "k": made["key"]["id"]}, "admin")
        await page.wait_for_timeout(5500)  # a revoked key may be accepted for so long
        await page.get_by_role("button", name="Save and go to the next").click()
        await expect(page.get_by_role("status")).to_contain_text("expired or was revoked")
        await found.sign_in(team.keys["Ann"])
        await found.is_at(case)
        await expect(page.get_by_label("Why?")).to_have_value("half a sent")
        await expect(page.get_by_label("Annotation error")).to_be_checked()
        await expect(page.get_by_role("checkbox").first).to_be_checked()
        # Ada's reservation ends by the store's clock, and two others get the case.
        connection = apsw.Connection(lone.server.place.store.removeprefix("sqlite:///"))
        connection.set_busy_timeout(10_000)
        connection.execute(
            "UPDATE assignment SET reserved_until = reserved_until - 9000000000 WHERE person = ?", ("Ann",)
        )
        connection.close()
        await page.reload()
        await expect(page.get_by_text("Your reservation has ended.").first).to_be_visible()
        for person in ("Bob", "Cid"):
            assert team.next(person) == failure
            team.submit(person, failure, errorType="AnnotationError")
        await page.get_by_label("Why?").fill("a whole sentence")
        await page.get_by_role("button", name="Save and go to the next").click()
        await expect(page.get_by_role("alert")).to_contain_text("Your reservation ended at")
        await expect(page.get_by_label("Why?")).to_have_value("a whole sentence")
        # The draft also appears on another machine.
        await page.evaluate("sessionStorage.clear()")
        await found.goto(case)
        await expect(page.get_by_label("Why?")).to_have_value("a whole sentence")
        await expect(page.get_by_role("checkbox").first).to_be_checked()
    delete = "mutation($p: String!, $q: String!) { deleteAnnotationQueue(project: $p, queue: $q) { __typename } }"
    lone.ask(delete, {"p": lone.project, "q": team.queue}, "admin")


async def test_what_is_typed_as_the_final_word_or_for_a_queue_outlives_the_key(browser: Browser, lone: World) -> None:
    team = make_team(lone, f"final {token_hex(4)}", failures=[lone.ids["failure"]])
    for person, kind in (("Ada", "AnnotationError"), ("Ben", "LLMAsAJudgeError")):
        assert team.next(person) == lone.ids["failure"]
        team.submit(person, lone.ids["failure"], errorType=kind)
    made = [
        lone.ask(
            'mutation($p: String!) { createKey(project: $p, name: "short", role: writer, person: "Dan") '
            "{ ... on KeyCreated { secret key { id } } } }",
            {"p": lone.project},
            "admin",
        )["createKey"]
        for _ in range(2)
    ]
    revoke = "mutation($p: String!, $k: ID!) { revokeKey(project: $p, id: $k) { __typename } }"
    forms = {
        f"{team.base}/disputes/{lone.ids['failure']}": ("Why?", "half a final wo", "Save the final word"),
        f"/ui/projects/{lone.project}/queues": ("Who annotates", "Ada\nBen\nCl", "Make the queue"),
    }
    for key, (address, (field, typed, button)) in zip(made, forms.items(), strict=True):
        async with looking(browser, lone.server) as found:
            page = found.page
            await found.goto(f"/ui/sign-in?next={address}")
            await found.sign_in(key["secret"])
            await found.is_at(address)
            await page.get_by_label(field).fill(typed)
            for required in await page.get_by_label("Name", exact=True).all():
                await required.fill("a new one")
            for choice in await page.get_by_label("Annotation error").all():
                await choice.check()
            lone.ask(revoke, {"p": lone.project, "k": key["key"]["id"]}, "admin")
            await page.wait_for_timeout(5500)  # a revoked key may be accepted for so long
            await page.get_by_role("button", name=button).click()
            await expect(page.get_by_role("status")).to_contain_text("expired or was revoked")
            await found.sign_in(team.keys["Dan"])
            await found.is_at(address)
            await expect(page.get_by_label(field)).to_have_value(typed)
    delete = "mutation($p: String!, $q: String!) { deleteAnnotationQueue(project: $p, queue: $q) { __typename } }"
    lone.ask(delete, {"p": lone.project, "q": team.queue}, "admin")


def test_labels_and_queues_over_http(team: Team) -> None:
    server, project = team.world.server, team.world.project
    base = f"/ui/projects/{project}/queues"
    form = {"name": "x", "ordering": "random", "count": "5", "annotators": "2", "minutes": "30", "people": ""}
    with (
        visitor(server, team.keys["Dan"]) as dan,
        visitor(server, team.keys["Ada"]) as ada,
        visitor(server, server.key("admin", project)) as admin,
        visitor(server, server.key("reader", project)) as reader,
    ):
        for wrong in ({"count": "0"}, {"count": "9" * 40}, {"minutes": "x"}, {"ordering": "y"}, {"name": " "}):
            answer = dan.post(f"{base}/new", data={**form, **wrong}, headers=OWN_PAGE)
            assert (answer.status_code, 'role="alert"' in answer.text) == (400, True), wrong
        assert "role writer" in reader.get(base).text
        exported = ada.get(f"{team.base}/labels")
        assert exported.headers["content-disposition"].startswith("attachment")
        lines = [json.loads(line) for line in exported.text.splitlines()]
        # Ada can't see Ben's verdict on a case before she has judged the case.
        assert {one["author"] for one in lines} == {"Ada", "Ben"}
        assert len(dan.get(f"{team.base}/labels").text.splitlines()) >= len(lines)
        own, others = (
            "\n".join(json.dumps(one) for one in lines if (one["author"] == "Ada") is is_own)
            for is_own in (True, False)
        )
        done = ada.post(f"{team.base}/import", data={"labels": own}, headers=OWN_PAGE)
        assert (done.status_code, "0 labels imported. 1 more stood here already" in done.text) == (200, True)
        for labels in (others, "no json", "", '{"query_id": "x"}'):
            refused = ada.post(f"{team.base}/import", data={"labels": labels}, headers=OWN_PAGE)
            assert (refused.status_code, 'role="alert"' in refused.text) == (400, True), labels
        lost = ada.post(
            f"{team.base}/import",
            data={"labels": '{"query_id": "<b>x", "primary": {"type": "AnnotationError"}}'},
            headers=OWN_PAGE,
        )
        assert (lost.status_code, "line 1" in lost.text, "<b>x" in lost.text) == (200, True, False)
        assert admin.post(f"{team.base}/import", data={"labels": others}, headers=OWN_PAGE).status_code == 200
        assert dan.post(f"{team.base}/close", headers=OWN_PAGE).status_code == 403
        assert dan.post(f"{team.base}/next", headers=OWN_PAGE).status_code == 400
        made = dan.post(f"{base}/new", data={**form, "name": '"><script>alert(1)</script>'}, headers=OWN_PAGE)
        there = made.headers["location"]
        for address in (base, there):
            assert "<script>alert" not in dan.get(address).text
        assert admin.post(f"{there}/close", headers=OWN_PAGE).headers["location"] == there
        assert "was closed" in dan.get(there).text
        assert "is closed" in dan.post(f"{there}/next", headers=OWN_PAGE).text
        assert dan.post(f"{there}/delete", headers=OWN_PAGE).status_code == 403
        assert admin.post(f"{there}/delete", headers=OWN_PAGE).headers["location"] == base
        assert admin.get(there).status_code == 404


def test_pages_say_what_is_withheld_and_where_it_is_to_be_judged(shared: World) -> None:
    failure = shared.ids["failure"]
    team = make_team(shared, f"told {token_hex(4)}", ("Fay", "Gus"), failures=[failure])
    base = f"/ui/projects/{shared.project}"
    with visitor(shared.server, team.keys["Fay"]) as fay, visitor(shared.server, team.keys["Dan"]) as dan:
        for address in (base, f"{base}/failures", f"{base}/blame"):
            told = "You are still to judge 1 failure in a queue."
            assert [told in one.get(address).text for one in (fay, dan)] == [True, False], address
        blind, seen = (one.get(f"{base}/failures/{failure}").text for one in (fay, dan))
        assert f'href="{team.base}/cases/{failure}">Judge it there' in blind
        assert "It would tell what the free pass says" in blind
        assert "Work it out" not in blind
        assert "Judge it there" not in seen
        listed = "What others say is not shown before you have judged it"
        assert [listed in one.get(f"{base}/failures").text for one in (fay, dan)] == [True, False]
        answer = fay.post(f"{base}/failures/{failure}/verdict", data={"type": "unknown"}, headers=OWN_PAGE)
        assert "Your verdict is saved" in fay.get(answer.headers["location"]).text
        assert "Judge it there" in fay.get(f"{base}/failures/{failure}").text


def test_an_operation_that_does_not_fit_is_refused_in_words(shared: World) -> None:
    document = "query($p: String!) { project(name: $p) { operations(kinds: [Update], first: 1) { nodes { id } } } }"
    (update,) = shared.ask(document, {"p": shared.project}, "reader")["project"]["operations"]["nodes"]
    with visitor(shared.server, shared.server.key("writer", shared.project)) as writer:
        form = {"type": "ResponseError", "operation": update["id"], "reason": "x"}
        address = f"/ui/projects/{shared.project}/failures/{shared.ids['failure']}/verdict"
        refused = writer.post(address, data=form, headers=OWN_PAGE)
    assert refused.status_code == 400
    told = "The operation is of kind Update, which can&#39;t be at fault for this: response error."
    assert told in refused.text


def test_undo_is_offered_where_there_is_something_to_undo(shared: World) -> None:
    team = make_team(shared, f"undone {token_hex(4)}", ("Hal", "Ida"), count=1)
    with visitor(shared.server, team.keys["Hal"]) as hal:
        case = f"{team.base}/cases/{team.next('Hal')}"
        for address in (team.base, case):
            assert "Undo the last" not in hal.get(address).text
        assert hal.post(f"{case}/skip", headers=OWN_PAGE).headers["location"] == f"{team.base}?end=1"
        end = hal.get(f"{team.base}?end=1").text
        assert ("Look again" in end, "Continue annotating" in end, "Undo the last" in end) == (True, False, True)
        assert "1 case can&#39;t be done" in end or "1 case can't be done" in end
        assert "Take it back" in hal.get(case).text
        assert hal.post(f"{case}/undo", headers=OWN_PAGE).headers["location"] == f"{case}?back=1"
        assert "The case is yours again" in hal.get(f"{case}?back=1").text


def test_a_queue_names_people_without_a_key_to_admins(team: Team) -> None:
    server, project = team.world.server, team.world.project
    form = {"ordering": "random", "count": "1", "annotators": "2", "minutes": "30", "people": "Ada\nBne"}
    with visitor(server, server.key("admin", project)) as admin, visitor(server, team.keys["Dan"]) as dan:
        name = f"misspelt {token_hex(4)}"
        address = f"/ui/projects/{project}/queues/new"
        made = dan.post(address, data={"name": name, **form}, headers=OWN_PAGE).headers["location"]
        told = "No key of this project is of <bdi>Bne</bdi> ("
        assert [told in one.get(made).text for one in (admin, dan)] == [True, False]
        assert "No key of this project" not in admin.get(team.base).text
        assert admin.post(f"{made}/close", headers=OWN_PAGE).headers["location"] == made


def test_the_graph_leads_back_to_the_case(team: Team) -> None:
    with visitor(team.world.server, team.keys["Ada"]) as ada:
        case = f"{team.base}/cases/{team.next('Ada')}"
        there = re.search(r'href="([^"]+/graph\?from=[^"]+)" data-key="g"', ada.get(case).text)
        assert there is not None
        assert f'href="{case}"><bdi>The case</bdi>' in ada.get(there[1]).text
        for wrong in ("https%3A%2F%2Fexample.org", "failures%2F..%2F..", "x"):
            answer = ada.get(f"{there[1].partition('?')[0]}?from={wrong}")
            assert answer.status_code == 200
            assert not re.search(r'href="[^"]*example.org|The (case|failure)<', answer.text)


@pytest.mark.parametrize(
    "path", ["next", "undo", "close", "delete", "import", "cases/{f}/verdict", "cases/{f}/skip", "cases/{f}/undo"]
)
def test_other_sites_annotate_nothing(team: Team, path: str) -> None:
    with visitor(team.world.server, team.keys["Ada"]) as client:
        address = f"{team.base}/{path.format(f=team.world.ids['failure'])}"
        for headers in ({}, {"Sec-Fetch-Site": "cross-site"}):
            assert client.post(address, data={"type": "unknown"}, headers=headers).status_code == 403
