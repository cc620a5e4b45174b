"""Invitations: an address that makes a key, once; and annotators, who judge cases and change nothing else."""

from __future__ import annotations

import asyncio
import html
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
from axe_playwright_python.async_playwright import Axe
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    build_schema,
    is_required_argument,
    is_required_input_field,
)
from playwright.async_api import Browser, expect

import api.graphql
import api.http
from api.auth.invitations import accept_invitation, is_invitation, make_invitation
from api.auth.keys import mask_keys, parse_key
from api.errors import UnauthenticatedError
from api.web.pages.routes import PAGES
from schema.control import Role
from schema.errors import InputError
from store.contract.protocol import Database
from tests.graphql.world import World
from tests.web.looking import looking
from tests.web.team import Team
from tests.web.test_doors import OWN_PAGE, visitor
from tests.web.test_looking import RULES

JUDGING = {"nextCase", "submitCase", "skipCase", "undoCase"}
"""What an annotator may do and a reader may not."""
_JUDGING_PAGES = re.compile(r"/queues/\{id\}/(next|undo|cases/\{case\}/(verdict|skip|undo))$")
NOW = datetime.now(UTC)


def _invite(world: World, **form: str) -> tuple[int, str]:
    """The status of the page, and the address of the invitation if it shows one."""
    base = f"/ui/projects/{world.project}"
    asked = {"person": "Ana", "role": "annotator", "queue": "", "days": "7", **form}
    with visitor(world.server, world.server.key("admin", world.project)) as admin:
        origin = {"Origin": world.server.url}
        answer = admin.post(f"{base}/invitations/new", data=asked, headers=OWN_PAGE | origin)
    found = re.search(r"<code>(http[^<]+)</code>", answer.text)
    return answer.status_code, html.unescape(found[1]) if found else answer.text


def _accept(world: World, code: str, next_: str = "/ui") -> httpx.Response:
    with visitor(world.server) as nobody:
        return nobody.post("/ui/invitation", data={"code": code, "next": next_}, headers=OWN_PAGE)


async def test_a_colleague_gets_a_key_and_the_queue(browser: Browser, team: Team) -> None:
    world = team.world
    base = f"/ui/projects/{world.project}"
    person = f"Ana {token_hex(3)}"
    async with looking(browser, world.server) as found:
        page = found.page
        there = f"{base}/settings?queue={team.queue}&person={quote(person)}"
        await found.goto(f"/ui/sign-in?next={quote(there)}")
        await found.sign_in(world.server.key("admin", world.project))
        await expect(page.get_by_label("Who", exact=True)).to_have_value(person)
        await page.get_by_role("button", name="Make the address").click()
        await expect(page.locator("#invited")).to_be_visible()
        broken = await Axe().run(page, options=RULES)
        assert broken.violations_count == 0, broken.generate_report()
        address = await page.locator("#invited ~ p code").inner_text()
    code = urlsplit(address).fragment
    assert address.startswith(f"{world.server.url}/ui/invitation?next=")
    assert parse_key(code) is None
    async with looking(browser, world.server) as found:
        page = found.page
        await page.goto(address)
        assert "#" not in page.url
        broken = await Axe().run(page, options=RULES)
        assert broken.violations_count == 0, broken.generate_report()
        assert not await page.get_by_label("Code of the invitation").is_visible()
        await page.get_by_role("button", name="Accept").click()
        await expect(page.get_by_role("status")).to_contain_text("as an annotator")
        broken = await Axe().run(page, options=RULES)
        assert broken.violations_count == 0, broken.generate_report()
        key = await page.locator("section code").inner_text()
        await page.get_by_role("link", name="Begin").click()
        await expect(page).to_have_url(re.compile(f"{team.base}$"))
        assert not [url for url in found.asked if code in url or key in url]
    secrets = (code, code.split("_", 2)[2], key, key.split("_", 2)[2])
    assert not [secret for secret in secrets if secret in world.server.log_text]
    with visitor(world.server, key) as ana:
        assert person in ana.get("/ui/me").text
    assert _accept(world, code).status_code == 401


def test_an_invitation_is_good_once_and_no_key(lone: World) -> None:
    status, address = _invite(lone)
    assert status == 200
    code = urlsplit(address).fragment
    as_key = code.replace("mi_", "mt_", 1)
    for credentials in (code, as_key):
        with httpx.Client(base_url=lone.server.url, headers={"Authorization": f"Bearer {credentials}"}) as client:
            assert client.post("/graphql", json={"query": "{ viewer { actor } }"}).status_code == 401
    answer = _accept(lone, code, "https://elsewhere.example/")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "elsewhere" not in answer.text
    assert "HttpOnly" in answer.headers["set-cookie"]
    again = _accept(lone, code)
    assert (again.status_code, "set-cookie" in again.headers) == (401, False)
    for wrong in ("", "x", code[:-1] + ("A" if code[-1] != "A" else "B"), lone.server.key("admin", lone.project)):
        assert _accept(lone, wrong).status_code == 401


def test_other_sites_accept_no_invitation(lone: World) -> None:
    code = urlsplit(_invite(lone)[1]).fragment
    with visitor(lone.server) as nobody:
        there = nobody.post("/ui/invitation", data={"code": code}, headers={"Sec-Fetch-Site": "cross-site"})
    assert there.status_code == 403
    assert _accept(lone, code).status_code == 200


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"person": " "}, "Say who is invited"),
        ({"role": "admin"}, "Choose what they may do"),
        ({"role": "owner"}, "Choose what they may do"),
        ({"days": "31"}, "from 1 to 30"),
        ({"days": ""}, "from 1 to 30"),
    ],
)
def test_what_is_no_invitation_is_told(lone: World, form: dict[str, str], said: str) -> None:
    status, text = _invite(lone, **form)
    assert status == 400
    assert said in text


@pytest.mark.each_engine
async def test_of_many_at_the_same_time_one_is_accepted(database: Database) -> None:
    project = f"invited-{token_hex(4)}"
    code, kept = make_invitation(project, "Ana", Role.ANNOTATOR, "key:1", NOW, datetime.now(UTC) + timedelta(days=1))
    await database.records(project).add_key(kept)
    tried = await asyncio.gather(*(accept_invitation(database, code, None) for _ in range(8)), return_exceptions=True)
    (made,) = [one for one in tried if not isinstance(one, BaseException)]
    assert all(isinstance(one, UnauthenticatedError) for one in tried if isinstance(one, BaseException))
    keys = [one for one in (await database.records(project).keys()).items if not is_invitation(one)]
    assert [one.id for one in keys] == [made[1].id]
    assert (keys[0].role, keys[0].person) == (Role.ANNOTATOR, "Ana")
    assert parse_key(made[0]) is not None


@pytest.mark.one_engine
@pytest.mark.parametrize("over", ["revoked", "expired"])
async def test_an_invitation_that_is_over_makes_no_key(database: Database, over: str) -> None:
    project, begun = f"invited-{token_hex(4)}", datetime.now(UTC) - timedelta(days=2)
    ends = begun + timedelta(days=1 if over == "expired" else 9)
    code, kept = make_invitation(project, "Ana", Role.READER, "key:1", begun, ends)
    records = database.records(project)
    await records.add_key(kept)
    if over == "revoked":
        await records.revoke_key(kept.id, datetime.now(UTC))
    with pytest.raises(UnauthenticatedError):
        await accept_invitation(database, code, None)
    assert [one.id for one in (await records.keys()).items] == [kept.id]


def test_nobody_becomes_an_admin_by_an_invitation() -> None:
    later = NOW + timedelta(days=1)
    with pytest.raises(InputError, match="admin"):
        make_invitation("shop", "Ana", Role.ADMIN, "key:1", NOW, later)
    with pytest.raises(InputError, match="30 days"):
        make_invitation("shop", "Ana", Role.READER, "key:1", NOW, NOW + timedelta(days=40))
    code, kept = make_invitation("shop", "Ana", Role.READER, "key:1", NOW, later)
    assert code.rpartition("_")[2] not in mask_keys(f"before {code} after") + repr(kept)


def _value(kind: GraphQLInputType) -> str:
    """A literal of a type, with what it must have."""
    if isinstance(kind, GraphQLNonNull):
        kind = kind.of_type
    if isinstance(kind, GraphQLList):
        return f"[{_value(kind.of_type)}]"
    if isinstance(kind, GraphQLEnumType):
        return str(next(iter(kind.values)))
    if isinstance(kind, GraphQLInputObjectType):
        needed = ((name, one) for name, one in kind.fields.items() if is_required_input_field(one))
        return "{" + ", ".join(f"{name}: {_value(one.type)}" for name, one in needed) + "}"
    return {"Int": "1", "Float": "1", "Boolean": "true", "DateTime": '"2099-01-01T00:00:00Z"'}.get(
        str(kind), f'"{"0" * 32}"'
    )


def _mutations(project: str) -> dict[str, str]:
    """A document of each mutation, by its name."""
    schema = build_schema(Path(api.graphql.__file__).with_name("schema.graphql").read_text("utf-8"))
    assert schema.mutation_type is not None
    found = {}
    for name, one in schema.mutation_type.fields.items():
        needed = {argument: _value(its.type) for argument, its in one.args.items() if is_required_argument(its)}
        given = ", ".join(f"{key}: {value}" for key, value in (needed | {"project": json.dumps(project)}).items())
        found[name] = f"mutation {{ done: {name}({given}) {{ __typename ... on Problem {{ code message }} }} }}"
    return found


def _code(answer: dict[str, Any]) -> str:
    if answer.get("errors"):
        return str(answer["errors"][0]["extensions"]["code"])
    return str(answer["data"]["done"].get("code", answer["data"]["done"]["__typename"]))


def test_an_annotator_changes_by_graphql_what_is_of_cases_alone(lone: World) -> None:
    documents = _mutations(lone.project)
    assert set(documents) > JUDGING
    codes = {name: _code(lone.answer(document, role="annotator")) for name, document in documents.items()}
    assert {name for name, code in codes.items() if code != "FORBIDDEN"} == JUDGING
    assert {codes[name] for name in JUDGING} == {"NOT_FOUND"}
    reader = {_code(lone.answer(document, role="reader")) for document in documents.values()}
    assert reader == {"FORBIDDEN"}
    for field in ("keys", "audit"):
        asked = f'{{ project(name: "{lone.project}") {{ {field} {{ nodes {{ id }} }} }} }}'
        assert lone.answer(asked, role="annotator")["errors"][0]["extensions"]["code"] == "FORBIDDEN"


def test_an_annotator_changes_on_pages_what_is_of_cases_alone(lone: World) -> None:
    form = {"name": "x", "role": "admin", "person": "x", "days": "1", "type": "UpdateError", "ordering": "random"}
    form |= {"count": "1", "annotators": "1", "minutes": "5", "gold": "x", "method": "flow", "labels": "{}"}
    with visitor(lone.server, lone.server.key("annotator", lone.project)) as client:
        for method, path, _ in PAGES:
            if method == "POST" and not _JUDGING_PAGES.search(path):
                there = path.format(project=lone.project, id=lone.ids["failure"], case=lone.ids["failure"])
                answer = client.post(there, data=form, headers=OWN_PAGE)
                assert answer.status_code >= 400, path
                assert answer.status_code < 500, path
        text = client.get(f"/ui/projects/{lone.project}/settings").text
        assert "Invite a colleague" not in text
        assert "Your role here is annotator" in text


def test_an_annotator_sends_nothing_by_http(lone: World) -> None:
    paths = json.loads(Path(api.http.__file__).with_name("openapi.json").read_text("utf-8"))["paths"]
    asked = [(method, path) for path, its in paths.items() for method in its if method not in {"get", "parameters"}]
    assert ("post", "/v1/events") in asked
    with lone.server.client("annotator", lone.project) as annotator:
        for method, path in asked:
            if path == "/graphql":
                continue
            there = re.sub(r"\{[^}]*\}", lone.ids["job"], path)
            answer = annotator.request(method, there, json={}, headers={"Content-Type": "application/json"})
            assert answer.status_code == 403, (method, path, answer.text)


def test_an_annotator_judges_a_case(team: Team) -> None:
    world = team.world
    with visitor(world.server, world.server.key("admin", world.project)) as admin:
        made = admin.post(
            f"/ui/projects/{world.project}/queues/new",
            data={"name": f"q {token_hex(3)}", "ordering": "random", "count": "2", "annotators": "1", "minutes": "5"},
            headers=OWN_PAGE,
        )
    queue = made.headers["location"]
    with visitor(world.server, world.server.key("annotator", world.project)) as client:
        case = client.post(f"{queue}/next", headers=OWN_PAGE).headers["location"]
        assert "Save and go" in client.get(case).text
        done = client.post(f"{case}/verdict", data={"type": "unknown", "reason": "I can't say."}, headers=OWN_PAGE)
        assert done.status_code == 303, done.text
        assert "submitted" in client.get(queue).text
