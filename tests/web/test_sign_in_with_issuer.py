"""Signing in at an OpenID Connect issuer in a real browser, over real HTTP; and bad answers that are refused."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, expect

from api.auth.browsers import BACK, COOKIE, MOST_COOKIE, SIGN_IN_COOKIE
from api.auth.code_flow import Begun
from tests.graphql.world import World, make_world
from tests.server.forwarder import Forwarder
from tests.server.oidc_issuer import oidc_issuer
from tests.server.running import Place, RunningServer, running
from tests.server.signing_issuer import CLIENT, SECRET, SigningIssuer, signing_issuer
from tests.stepped_clock import VARIABLE, set_clock
from tests.web.looking import Looking, looking
from tests.web.test_looking import RULES

pytestmark = pytest.mark.one_engine

_PERSON = "alice@example.org"


@dataclass
class Signing:
    """A server with an issuer, behind a port of its own.

    Attributes:
        url: the public address of the server.
        clock: sets the server's clock.
    """

    server: RunningServer
    issuer: SigningIssuer
    url: str
    project: str
    clock: Path


@pytest.fixture(scope="module")
def signing(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Signing]:
    """On each engine."""
    folder = tmp_path_factory.mktemp("signing")
    secret = folder / "secret.txt"
    secret.write_text(f"{SECRET}\n")
    clock = folder / "clock"
    set_clock(clock, 0)
    stepped = replace(place, environment={**place.environment, VARIABLE: str(clock)})
    # The public address is known before the server listens, as behind a load balancer.
    with Forwarder("http://127.0.0.1:9") as front, signing_issuer() as issuer:
        url = f"http://127.0.0.1:{front.port}"
        issuer.redirect_uri = f"{url}{BACK}"
        project = f"signing-{front.port}"
        settings = {
            "oidc_issuer": issuer.url,
            "oidc_audience": "memtrace-api",
            "oidc_client_id": CLIENT,
            "oidc_client_secret_file": secret,
            "oidc_grants": json.dumps({"analysts": {project: "writer"}}),
            "public_url": f"{url}/",
            "rate_limit": "1000000/minute",
        }
        with running(stepped, folder, **settings) as server:
            front.lead_to(server.url)
            yield Signing(server, issuer, url, project, clock)


@pytest.fixture
def issuer(signing: Signing) -> Iterator[SigningIssuer]:
    """The issuer; after each test it answers correctly again."""
    yield signing.issuer
    signing.issuer.changed, signing.issuer.wrong_state = {}, False
    signing.issuer.iss, signing.issuer.up = signing.issuer.url, True
    signing.issuer.answers.clear()
    set_clock(signing.clock, 0)


@pytest.fixture(scope="module")
def sample(signing: Signing) -> World:
    """Failures to look at."""
    return make_world(signing.server, signing.project)


async def _at_issuer(found: Looking, signing: Signing, next_: str, button: str = "Log in") -> None:
    """Follow the link to the issuer, and sign in there."""
    page = found.page
    await page.goto(f"{signing.url}/ui/sign-in?next={next_}")
    await page.get_by_role("link", name="Sign in with localhost").click()
    await page.get_by_label("Name").fill(_PERSON)
    await page.get_by_role("button", name=button).click()


def _forget(found: Looking, signing: Signing) -> None:
    """The browser requested only the issuer's pages; all requests to the front came to the server."""
    ours = (signing.issuer.url, signing.url)
    found.asked = [url for url in found.asked if not url.startswith(ours)]


async def test_a_person_signs_in_at_the_issuer(browser: Browser, signing: Signing, sample: World) -> None:
    failure = f"/ui/projects/{signing.project}/failures/{sample.ids['failure']}"
    async with looking(browser, signing.server, "Clear-Site-Data") as found:
        page = found.page
        await found.context.add_cookies(
            [
                {
                    "name": "__Host-memtrace",
                    "value": "mt_of_somebody_else",
                    "url": signing.url.replace("http:", "https:"),
                    "secure": True,
                }
            ]
        )
        await page.goto(f"{signing.url}{failure}")
        await expect(page.get_by_role("status")).to_contain_text("Sign in to see this page")
        broken = await Axe().run(page, options=RULES)
        assert broken.violations_count == 0, broken.generate_report()
        # By keyboard alone: the link to the issuer has the focus.
        await page.keyboard.press("Enter")
        await page.get_by_label("Name").fill(_PERSON)
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(f"{signing.url}{failure}")
        await page.get_by_label("I can't tell").check()
        await page.get_by_role("button", name="Save verdict").click()
        await expect(page.get_by_role("status")).to_contain_text("Your verdict is saved")
        await page.goto(f"{signing.url}/ui/me")
        await expect(page.locator(".facts")).to_contain_text(_PERSON)
        cookies = {one["name"]: one for one in await found.context.cookies(signing.url.replace("http:", "https:"))}
        assert set(cookies) == {COOKIE}
        kept = cookies[COOKIE]
        assert (kept["httpOnly"], kept["secure"], kept["sameSite"], kept["path"]) == (True, True, "Strict", "/")
        assert not kept["value"].startswith("mt_")
        assert kept["domain"] == "127.0.0.1"
        assert await page.evaluate("document.cookie") == ""
        (form,) = signing.issuer.forms[-1:]
        assert len(form["code_verifier"]) >= 43
        for secret in (form["code"], form["code_verifier"], kept["value"], SECRET):
            assert secret not in signing.server.log_text
            assert not [url for url in found.asked if secret in url and BACK not in url]
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("status")).to_contain_text("localhost may still know you")
        _forget(found, signing)


async def test_what_is_typed_outlives_a_token(
    browser: Browser, signing: Signing, sample: World, issuer: SigningIssuer
) -> None:
    """A token ends while a user writes. The issuer still knows the user, who goes on after two clicks."""
    failure = f"/ui/projects/{signing.project}/failures/{sample.ids['failure']}"
    async with looking(browser, signing.server, "Clear-Site-Data") as found:
        page = found.page
        await _at_issuer(found, signing, failure)
        await expect(page).to_have_url(f"{signing.url}{failure}")
        await page.wait_for_load_state("load")
        await page.get_by_label("Deletion error").check()
        await page.get_by_label("Why?").fill("half a sent")
        set_clock(signing.clock, 1000)
        issuer.changed = {"exp": datetime.now(UTC) + timedelta(seconds=1500)}
        await page.get_by_role("button", name="Save verdict").click()
        await expect(page.get_by_role("status")).to_contain_text("has expired or was revoked")
        await page.get_by_role("link", name="Sign in with localhost").click()
        await expect(page).to_have_url(f"{signing.url}{failure}")
        await expect(page.get_by_label("Why?")).to_have_value("half a sent")
        await expect(page.get_by_label("Deletion error")).to_be_checked()
        # A user who only opens a page after the token's end needn't sign in again.
        set_clock(signing.clock, 2000)
        issuer.changed = {"exp": datetime.now(UTC) + timedelta(seconds=2500)}
        await page.goto(f"{signing.url}/ui/me")
        await expect(page).to_have_url(f"{signing.url}/ui/me")
        await expect(page.locator(".facts")).to_contain_text(_PERSON)
        _forget(found, signing)


async def test_the_issuer_lets_nobody_in(browser: Browser, signing: Signing) -> None:
    async with looking(browser, signing.server, "status of 401") as found:
        await _at_issuer(found, signing, "/ui/help", "Refuse")
        await expect(found.page.get_by_role("alert")).to_contain_text("You have not been let in there.")
        await found.page.goto(f"{signing.url}/ui/help")
        await expect(found.page).to_have_url(f"{signing.url}/ui/sign-in?next=%2Fui%2Fhelp")
        _forget(found, signing)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"nonce": "of another sign-in"}, "could not be used"),
        ({"nonce": None}, "could not be used"),
        ({"aud": "somebody-else"}, "could not be used"),
        ({"aud": [CLIENT, "another"], "azp": "another"}, "could not be used"),
        ({"iss": "https://issuer.example"}, "could not be used"),
        ({"exp": datetime(2020, 1, 1, tzinfo=UTC)}, "expired"),
        ({"sub": ""}, "could not be used"),
    ],
)
async def test_a_token_that_is_not_for_this_sign_in(
    browser: Browser, signing: Signing, issuer: SigningIssuer, wrong: dict[str, object], told: str
) -> None:
    issuer.changed = wrong
    async with looking(browser, signing.server, "status of 401") as found:
        await _at_issuer(found, signing, "/ui/help")
        await expect(found.page.get_by_role("alert")).to_contain_text(re.compile(told))
        assert await found.context.cookies(signing.url.replace("http:", "https:")) == []
        _forget(found, signing)


def _begin(signing: Signing, client: httpx.Client, next_: str = "/ui/help") -> tuple[dict[str, str], Begun, str]:
    """The request to the issuer, the browser's cookies, and their attributes."""
    answer = client.get("/ui/sign-in/issuer", params={"next": next_})
    assert answer.status_code == 303
    assert answer.headers["location"].startswith(f"{signing.issuer.url}/authorize?tenant=a&")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}
    set_ = answer.headers["set-cookie"]
    assert all(part in set_ for part in ("HttpOnly", "Secure", "SameSite=lax", "Path=/", "Max-Age=600"))
    assert "Domain" not in set_
    kept = set_.partition("=")[2].partition(";")[0].strip('"')
    return asked, Begun.model_validate_json(base64.urlsafe_b64decode(f"{kept}==")), kept


def _log_in(asked: dict[str, str], signing: Signing) -> dict[str, str]:
    """The address to which the issuer sends the browser back."""
    answer = httpx.post(f"{signing.issuer.url}/authorize", data={**asked, "user": "mallory"}, timeout=300)
    return {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}


def test_nobody_ends_what_another_browser_began(signing: Signing) -> None:
    """Session fixation: a link can't sign another user in as its maker."""
    with (
        httpx.Client(base_url=signing.url, timeout=300) as mallory,
        httpx.Client(base_url=signing.url, timeout=300) as victim,
    ):
        asked, begun, kept = _begin(signing, mallory)
        other, _, own = _begin(signing, victim)
        assert len({asked["state"], other["state"], begun.nonce, begun.verifier}) == 4
        said = _log_in(asked, signing)
        tries = [
            ({}, said),
            ({SIGN_IN_COOKIE: own}, said),
            ({SIGN_IN_COOKIE: "bm90aGluZw"}, said),
            ({SIGN_IN_COOKIE: "\\"}, said),
            ({SIGN_IN_COOKIE: kept}, said | {"state": other["state"]}),
            ({SIGN_IN_COOKIE: kept}, {name: value for name, value in said.items() if name != "state"}),
            ({SIGN_IN_COOKIE: kept}, said | {"iss": "https://issuer.example"}),
            ({SIGN_IN_COOKIE: kept}, said | {"code": "made up"}),
            ({SIGN_IN_COOKIE: kept}, {"state": said["state"]}),
            ({SIGN_IN_COOKIE: kept}, {"state": said["state"], "error": "<script>alert(1)</script>"}),
        ]
        for cookies, query in tries:
            header = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
            answer = httpx.get(f"{signing.url}{BACK}", params=query, headers=header, timeout=300)
            assert answer.status_code == 401, query
            assert f"{COOKIE}=" not in answer.headers["set-cookie"]
            assert "<script>alert" not in answer.text
        # The verifier of another browser does not fit the code.
        swapped = begun.model_copy(update={"verifier": "x" * 64}).text()
        answer = httpx.get(
            f"{signing.url}{BACK}", params=said, headers={"Cookie": f"{SIGN_IN_COOKIE}={swapped}"}, timeout=300
        )
        assert answer.status_code == 401
        # The code is spent now. A new code works once, and replaces an earlier cookie.
        said = _log_in(asked, signing)
        header = {"Cookie": f"{SIGN_IN_COOKIE}={kept}; {COOKIE}=mt_fixed"}
        answer = httpx.get(f"{signing.url}{BACK}", params=said, headers=header, timeout=300)
        assert answer.status_code == 200
        assert 'url=/ui/help"' in answer.text
        set_ = answer.headers.get_list("set-cookie")
        assert sorted(one.partition("=")[0] for one in set_) == [COOKIE, SIGN_IN_COOKIE]
        assert "Max-Age=0" in next(one for one in set_ if one.startswith(SIGN_IN_COOKIE))
        assert "mt_fixed" not in str(set_)
        assert httpx.get(f"{signing.url}{BACK}", params=said, headers=header, timeout=300).status_code == 401


def test_one_is_sent_to_pages_of_ours_alone(signing: Signing) -> None:
    with httpx.Client(base_url=signing.url, timeout=300) as client:
        for next_ in ("https://example.org", "//example.org", "/\\example.org", "javascript:alert(1)"):
            assert _begin(signing, client, next_)[1].next == "/ui"
        asked, begun, _ = _begin(signing, client)
        forged = begun.model_copy(update={"next": "https://example.org"}).text()
        header = {"Cookie": f"{SIGN_IN_COOKIE}={forged}"}
        answer = httpx.get(f"{signing.url}{BACK}", params=_log_in(asked, signing), headers=header, timeout=300)
        assert answer.status_code == 200
        assert "example.org" not in answer.text


def test_a_token_of_another_issuer_opens_nothing(signing: Signing) -> None:
    good = signing.issuer.token(aud=CLIENT, sub="alice")
    with oidc_issuer() as other:
        tokens = [
            other.token(aud=CLIENT),
            other.token(aud=CLIENT, iss=signing.issuer.url),
            signing.issuer.token(aud="somebody-else"),
            signing.issuer.token(aud=CLIENT, exp=datetime(2020, 1, 1, tzinfo=UTC)),
            f"{good}x",
        ]
    page = f"{signing.url}/ui/projects/{signing.project}"
    assert httpx.get(page, headers={"Cookie": f"{COOKIE}={good}"}, timeout=300).status_code == 200
    for token in tokens:
        assert httpx.get(page, headers={"Cookie": f"{COOKIE}={token}"}, timeout=300).status_code == 303
        form = {"key": token}
        answer = httpx.post(
            f"{signing.url}/ui/sign-in", data=form, headers={"Sec-Fetch-Site": "same-origin"}, timeout=300
        )
        assert answer.status_code == 401
    # A token of the issuer can't open another project, whatever the address says.
    assert (
        httpx.get(f"{signing.url}/ui/projects/other", headers={"Cookie": f"{COOKIE}={good}"}, timeout=300).status_code
        == 404
    )


def test_a_token_without_room_in_a_cookie_is_told(signing: Signing, issuer: SigningIssuer) -> None:
    with httpx.Client(base_url=signing.url, timeout=300) as client:
        asked, _, kept = _begin(signing, client)
        said = _log_in(asked, signing)
        header = {"Cookie": f"{SIGN_IN_COOKIE}={kept}"}
        issuer.changed = {"groups": ["g" * 40] * 120}
        answer = httpx.get(f"{signing.url}{BACK}", params=said, headers=header, timeout=300)
        assert answer.status_code == 400
        assert f"a cookie has room for {MOST_COOKIE:,}" in answer.text


def test_without_a_client_there_is_no_other_way_in(lone: World) -> None:
    with lone.server.client(None) as client:
        assert "issuer" not in client.get("/ui/sign-in").text
        for address in ("/ui/sign-in/issuer", BACK):
            assert client.get(address).status_code == 404
