"""A sign-in at an issuer: the question to the issuer, and the answers that let a browser in."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from api.auth import oidc
from api.auth.browsers import BACK
from api.auth.code_flow import TRIES, Begun, CodeFlow
from api.auth.oidc import TokenVerifier
from api.errors import IssuerError, RateLimitedError, UnauthenticatedError
from schema.control import Role
from tests.server.oidc_issuer import AUDIENCE, Issuer, oidc_issuer

CLIENT = "memtrace pages"
GRANTS = {"analysts": {"shop": Role.READER}}
PUBLIC = "https://memtrace.example"


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with oidc_issuer() as started:
        discover(started)
        yield started


def discover(issuer: Issuer, **more: Any) -> None:
    """Publish the configuration of the issuer."""
    issuer.answers["/.well-known/openid-configuration"] = {
        "issuer": issuer.url,
        "jwks_uri": f"{issuer.url}/keys",
        "authorization_endpoint": f"{issuer.url}/authorize",
        "token_endpoint": f"{issuer.url}/token",
    } | more


def flow(issuer: Issuer, secret: str | None = None) -> CodeFlow:
    known = oidc.Issuer(issuer.url)
    tokens = TokenVerifier(known, AUDIENCE, "groups", GRANTS, client_id=CLIENT)
    return CodeFlow(known, tokens, CLIENT, secret, "openid groups", PUBLIC)


def good(issuer: Issuer, begun: Begun, **changed: Any) -> None:
    """Answer the next code with a token of this sign-in."""
    claims = {"aud": CLIENT, "nonce": begun.nonce} | changed
    issuer.tokens = (200, {"id_token": issuer.token(**claims)})


@pytest.mark.parametrize("query", ["", "?tenant=a"])
async def test_the_browser_is_sent_to_the_issuer(issuer: Issuer, query: str) -> None:
    discover(issuer, authorization_endpoint=f"{issuer.url}/authorize{query}")
    address, begun = await flow(issuer).begin("/ui/failures", None)
    parts = urlsplit(address)
    asked = dict(parse_qsl(parts.query))
    digest = hashlib.sha256(begun.verifier.encode()).digest()
    assert (f"{parts.scheme}://{parts.netloc}", parts.path) == (issuer.url, "/authorize")
    assert asked.pop("tenant", "") == query.removeprefix("?tenant=")
    assert asked == {
        "response_type": "code",
        "client_id": CLIENT,
        "redirect_uri": f"{PUBLIC}{BACK}",
        "scope": "openid groups",
        "state": begun.state,
        "nonce": begun.nonce,
        "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
        "code_challenge_method": "S256",
    }
    assert begun.next == "/ui/failures"
    assert len({begun.state, begun.nonce, begun.verifier}) == 3
    assert min(map(len, (begun.state, begun.nonce, begun.verifier))) >= 43


async def test_a_browser_that_comes_back_is_let_in(issuer: Issuer) -> None:
    signing = flow(issuer)
    _, begun = await signing.begin("/ui/failures", None)
    good(issuer, begun)
    for said in ({}, {"iss": issuer.url}):
        entered = await signing.finish({"state": begun.state, "code": "c 1"} | said, begun.text(), None)
        assert (entered.principal.actor, entered.principal.grants) == ("oidc:alice", {"shop": Role.READER})
        assert (entered.token, entered.next) == (issuer.tokens[1]["id_token"], "/ui/failures")
    form = {
        "grant_type": "authorization_code",
        "code": "c 1",
        "redirect_uri": f"{PUBLIC}{BACK}",
        "client_id": CLIENT,
        "code_verifier": begun.verifier,
    }
    assert issuer.posted == [(form, None)] * 2


@pytest.mark.parametrize(
    ("methods", "header", "in_form"),
    [
        (None, "Basic", None),
        (["client_secret_basic", "client_secret_post"], "Basic", None),
        (["client_secret_post"], None, "a:b c"),
    ],
)
async def test_the_secret_is_shown_in_a_way_that_the_issuer_takes(
    issuer: Issuer, methods: list[str] | None, header: str | None, in_form: str | None
) -> None:
    if methods is not None:
        discover(issuer, token_endpoint_auth_methods_supported=methods)
    signing = flow(issuer, "a:b c")
    _, begun = await signing.begin("/ui", None)
    good(issuer, begun)
    await signing.finish({"state": begun.state, "code": "c"}, begun.text(), None)
    ((form, shown),) = issuer.posted
    assert form.get("client_secret") == in_form
    expected = base64.b64encode(b"memtrace%20pages:a%3Ab%20c").decode()
    assert shown == (f"{header} {expected}" if header else None)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"state": "other"}, "begun in another browser, or too long ago"),
        ({"state": None}, "begun in another browser, or too long ago"),
        ({"state": "\ud800"}, "begun in another browser, or too long ago"),
        ({"iss": "https://other.example"}, "another issuer has answered"),
        ({"code": None}, "the issuer did not sign you in"),
        ({"error": "access_denied"}, "you have not been let in there"),
        ({"error": "server_error"}, "the issuer did not sign you in"),
    ],
)
async def test_an_answer_that_lets_nobody_in(issuer: Issuer, said: dict[str, str | None], problem: str) -> None:
    signing = flow(issuer)
    _, begun = await signing.begin("/ui", None)
    good(issuer, begun)
    query = {"state": begun.state, "code": "c"} | said
    with pytest.raises(UnauthenticatedError, match=problem):
        await signing.finish({name: value for name, value in query.items() if value is not None}, begun.text(), None)
    assert issuer.posted == []


@pytest.mark.parametrize("kept", [None, "", "no cookie", "AA==", base64.urlsafe_b64encode(b"{}").decode()])
async def test_without_its_cookie_a_browser_is_not_let_in(issuer: Issuer, kept: str | None) -> None:
    with pytest.raises(UnauthenticatedError, match="begun in another browser, or too long ago"):
        await flow(issuer).finish({"state": "", "code": "c"}, kept, None)


@pytest.mark.parametrize(
    "changed", [{"nonce": "other"}, {"nonce": None}, {"aud": AUDIENCE}, {"iss": "https://other.example"}, {"sub": None}]
)
async def test_a_token_of_another_sign_in_lets_nobody_in(issuer: Issuer, changed: dict[str, Any]) -> None:
    signing = flow(issuer)
    _, begun = await signing.begin("/ui", None)
    good(issuer, begun, **changed)
    with pytest.raises(UnauthenticatedError):
        await signing.finish({"state": begun.state, "code": "c"}, begun.text(), None)


@pytest.mark.parametrize(
    ("status", "body", "error", "problem"),
    [
        (500, {}, IssuerError, "answered 500 to a code"),
        (503, {"error": "invalid_grant"}, IssuerError, "answered 503 to a code"),
        (200, {"access_token": "t"}, IssuerError, "answered 200 with something that is no token"),
        (200, [], IssuerError, "answered 200 with something that is no token"),
        (201, {"id_token": "t"}, IssuerError, "answered 201 with something that is no token"),
        (400, {}, IssuerError, "answered 400 with something that is no token"),
        (401, {"error": "invalid_client"}, IssuerError, "does not take our client id and secret"),
        (400, {"error": "invalid_grant"}, UnauthenticatedError, "begun in another browser, or too long ago"),
    ],
)
async def test_answers_to_a_code(issuer: Issuer, status: int, body: Any, error: type[Exception], problem: str) -> None:
    signing = flow(issuer)
    _, begun = await signing.begin("/ui", None)
    issuer.tokens = (status, body)
    with pytest.raises(error, match=problem):
        await signing.finish({"state": begun.state, "code": "c"}, begun.text(), None)


@pytest.mark.parametrize("endpoint", [None, "http://login.example/token"])
async def test_a_code_is_only_sent_to_a_safe_address(issuer: Issuer, endpoint: str | None) -> None:
    discover(issuer, token_endpoint=endpoint)
    signing = flow(issuer)
    _, begun = await signing.begin("/ui", None)
    with pytest.raises(IssuerError):
        await signing.finish({"state": begun.state, "code": "c"}, begun.text(), None)
    assert issuer.posted == []


async def test_an_address_tries_few_codes(issuer: Issuer) -> None:
    signing = flow(issuer)
    _, begun = await signing.begin("/ui", None)
    good(issuer, begun)
    said = {"state": begun.state, "code": "c"}
    for _ in range(int(TRIES.partition("/")[0])):
        await signing.finish(said, begun.text(), "10.0.0.1")
    with pytest.raises(RateLimitedError):
        await signing.finish(said, begun.text(), "10.0.0.1")
    await signing.finish(said, begun.text(), "10.0.0.2")
    await signing.finish(said, begun.text(), None)


async def test_the_issuer_is_named_by_its_host(issuer: Issuer) -> None:
    assert flow(issuer).name == "127.0.0.1"
