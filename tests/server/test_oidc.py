"""Bearer tokens of an issuer: the good ones are taken, all others are not."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from api.auth import oidc
from api.auth.code_flow import TRIES, CodeFlow
from api.auth.oidc import TokenVerifier
from api.errors import IssuerError, RateLimitedError, UnauthenticatedError
from schema.control import Role
from tests.server.inside import inside
from tests.server.oidc_issuer import AUDIENCE, Issuer, oidc_issuer

CLIENT = "memtrace-pages"
DISCOVERY = "/.well-known/openid-configuration"
GRANTS = {
    "analysts": {"shop": Role.READER, "search": Role.WRITER},
    "platform": {"shop": Role.ADMIN, "search": Role.READER},
}


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with oidc_issuer() as started:
        yield started


@pytest_asyncio.fixture
async def verifier(issuer: Issuer) -> AsyncIterator[TokenVerifier]:
    made = TokenVerifier(oidc.Issuer(issuer.url), AUDIENCE, "groups", GRANTS, client_id=CLIENT)
    yield made
    await made.close()


async def test_a_good_token(issuer: Issuer, verifier: TokenVerifier) -> None:
    principal = await verifier.verify(issuer.token())
    assert principal.actor == "oidc:alice"
    assert principal.grants == {"shop": Role.READER, "search": Role.WRITER}
    assert principal.expires_at is not None
    assert not principal.is_expired(datetime.now(UTC))
    await verifier.verify(issuer.token())
    assert issuer.asked == ["/.well-known/openid-configuration", "/keys"]


async def test_the_highest_role_counts(issuer: Issuer, verifier: TokenVerifier) -> None:
    principal = await verifier.verify(issuer.token(groups=["platform", "analysts", "nobody"]))
    assert principal.grants == {"shop": Role.ADMIN, "search": Role.WRITER}


async def test_the_person_is_who_the_claim_says(issuer: Issuer, verifier: TokenVerifier) -> None:
    assert (await verifier.verify(issuer.token())).author == "alice"
    named = TokenVerifier(oidc.Issuer(issuer.url), AUDIENCE, "groups", GRANTS, "handle")
    try:
        principal = await named.verify(issuer.token(handle="Ada"))
        assert (principal.actor, principal.author) == ("oidc:alice", "Ada")
        for wrong in (None, "", 7, ["Ada"], "x" * 256):
            with pytest.raises(UnauthenticatedError):
                await named.verify(issuer.token(handle=wrong))
    finally:
        await named.close()


@pytest.mark.parametrize("groups", [None, [], ["nobody"], 7, {"analysts": 1}, [["analysts"]]])
async def test_without_grants_it_knows_no_project(issuer: Issuer, verifier: TokenVerifier, groups: Any) -> None:
    assert (await verifier.verify(issuer.token(groups=groups))).grants == {}


async def test_one_group_may_be_a_text(issuer: Issuer, verifier: TokenVerifier) -> None:
    assert (await verifier.verify(issuer.token(groups="platform"))).grants["shop"] is Role.ADMIN


async def test_clocks_may_differ_a_little(issuer: Issuer, verifier: TokenVerifier) -> None:
    now = datetime.now(UTC)
    await verifier.verify(issuer.token(exp=now - timedelta(seconds=30)))
    await verifier.verify(issuer.token(nbf=now + timedelta(seconds=30)))


def bad_claims() -> list[tuple[str, dict[str, Any]]]:
    now = datetime.now(UTC)
    return [
        ("issuer", {"iss": "https://evil.example"}),
        ("no issuer", {"iss": None}),
        ("audience", {"aud": "another"}),
        ("no audience", {"aud": None}),
        ("expired", {"exp": now - timedelta(minutes=10)}),
        ("no expiry", {"exp": None}),
        ("not yet", {"nbf": now + timedelta(hours=1)}),
        ("no subject", {"sub": None}),
        ("empty subject", {"sub": ""}),
        ("long subject", {"sub": "a" * 300}),
        ("expires beyond all years", {"exp": 10**18}),
        ("expires beyond all numbers", {"exp": 10**400}),
        ("expires at a float beyond all years", {"exp": 1e300}),
        ("is for several, and names no party", {"aud": [CLIENT, "another"]}),
        ("is for several, and of another party", {"aud": [CLIENT, "another"], "azp": "another"}),
        ("is of another party", {"aud": CLIENT, "azp": "another"}),
    ]


@pytest.mark.parametrize("changed", [pytest.param(claims, id=name) for name, claims in bad_claims()])
async def test_refused_by_what_it_says(issuer: Issuer, verifier: TokenVerifier, changed: dict[str, Any]) -> None:
    with pytest.raises(UnauthenticatedError):
        await verifier.verify(issuer.token(**changed))


def segment(document: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "changed",
    [
        {"aud": CLIENT},
        {"aud": CLIENT, "azp": CLIENT},
        {"aud": [CLIENT, "another"], "azp": CLIENT},
        # An access token names the client that asked for it.
        {"aud": [AUDIENCE, "another"], "azp": "another"},
        {"aud": [AUDIENCE, CLIENT]},
    ],
)
async def test_taken_by_whom_it_is_for(issuer: Issuer, verifier: TokenVerifier, changed: dict[str, Any]) -> None:
    assert (await verifier.verify(issuer.token(**changed))).actor == "oidc:alice"


@pytest.mark.parametrize(
    ("changed", "is_taken"),
    [
        ({"aud": CLIENT}, True),
        ({"aud": [CLIENT, "another"], "azp": CLIENT}, True),
        ({"aud": [CLIENT, "another"]}, False),
        ({"aud": [CLIENT, AUDIENCE]}, False),
        ({"aud": [CLIENT, "another"], "azp": "another"}, False),
    ],
)
async def test_a_sign_in_is_for_one_party(
    issuer: Issuer, verifier: TokenVerifier, changed: dict[str, Any], is_taken: bool
) -> None:
    token = issuer.token(nonce="once", **changed)
    if is_taken:
        assert (await verifier.verify_sign_in(token, CLIENT, "once")).actor == "oidc:alice"
    else:
        with pytest.raises(UnauthenticatedError):
            await verifier.verify_sign_in(token, CLIENT, "once")


async def test_deep_tokens(issuer: Issuer, verifier: TokenVerifier) -> None:
    deep = "[" * 4000 + "]" * 4000
    head = base64.urlsafe_b64encode(f'{{"alg": "RS256", "kid": "first", "x": {deep}}}'.encode()).rstrip(b"=").decode()
    claims = json.dumps(issuer.claims(exp=4102444800, iat=1))
    signed = jwt.api_jws.encode(f'{claims[:-1]}, "x": {deep}}}'.encode(), issuer.key, "RS256", {"kid": "first"})
    for token in (f"{head}.{issuer.token().partition('.')[2]}", signed):
        with pytest.raises(UnauthenticatedError):
            await verifier.verify(token)


def _flow(issuer: Issuer) -> CodeFlow:
    known = oidc.Issuer(issuer.url)
    tokens = TokenVerifier(known, AUDIENCE, "groups", GRANTS, client_id=CLIENT)
    return CodeFlow(known, tokens, CLIENT, None, "openid", "https://memtrace.example")


def _discovery(known: Issuer, **changed: Any) -> dict[str, Any]:
    urls = {"jwks_uri": f"{known.url}/keys", "authorization_endpoint": f"{known.url}/authorize"}
    return {"issuer": known.url} | urls | changed


async def test_many_sign_ins_are_few_requests(issuer: Issuer) -> None:
    issuer.answers[DISCOVERY] = _discovery(issuer)
    flow = _flow(issuer)
    begun = await asyncio.gather(*(flow.begin("/ui", f"10.0.0.{number}") for number in range(200)))
    begun += [await flow.begin("/ui", f"10.0.1.{number}") for number in range(100)]
    assert len({state.state for _, state in begun}) == 300
    assert issuer.asked == [DISCOVERY]


async def test_an_issuer_that_is_away_is_seldom_asked(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    issuer.answers[DISCOVERY] = _discovery(issuer)
    issuer.up = False
    flow = _flow(issuer)
    done = await asyncio.gather(*(flow.begin("/ui", None) for _ in range(100)), return_exceptions=True)
    assert {type(one) for one in done} == {IssuerError}
    assert issuer.asked == [DISCOVERY]
    issuer.up = True
    monkeypatch.setattr(oidc, "RETRY_SECONDS", 0.0)
    await flow.begin("/ui", None)
    # What is known stays in use while the issuer is away.
    issuer.up = False
    monkeypatch.setattr(oidc, "AGE_SECONDS", -1.0)
    await flow.begin("/ui", None)
    assert len(issuer.asked) == 3


async def test_an_address_begins_few_sign_ins(issuer: Issuer) -> None:
    issuer.answers[DISCOVERY] = _discovery(issuer)
    flow = _flow(issuer)
    most = int(TRIES.partition("/")[0])
    done = await asyncio.gather(*(flow.begin("/ui", "10.0.0.1") for _ in range(300)), return_exceptions=True)
    assert sum(isinstance(one, RateLimitedError) for one in done) == 300 - most
    await flow.begin("/ui", "10.0.0.2")


@pytest.mark.parametrize(
    "wrong",
    [
        {"issuer": "https://issuer.example"},
        {"authorization_endpoint": "http://issuer.example/authorize"},
        {"authorization_endpoint": None},
        {"jwks_uri": None},
    ],
)
async def test_a_strange_issuer_signs_nobody_in(issuer: Issuer, wrong: dict[str, Any]) -> None:
    issuer.answers[DISCOVERY] = _discovery(issuer, **wrong)
    with pytest.raises(IssuerError):
        await _flow(issuer).begin("/ui", None)


def test_a_browser_is_told_that_the_issuer_is_away(tmp_path: Path) -> None:
    with oidc_issuer() as gone:
        settings = {"oidc_issuer": gone.url, "oidc_audience": AUDIENCE, "oidc_client_id": CLIENT}
    most = int(TRIES.partition("/")[0])
    made = inside(tmp_path, public_url="https://memtrace.example", **settings)
    with made as (_, url), httpx.Client(base_url=url, timeout=300) as client:
        # The minute that is counted may end meanwhile, so up to twice as many are answered.
        answers = [client.get("/ui/sign-in/issuer")]
        while answers[-1].status_code == 503 and len(answers) <= 2 * most:
            answers.append(client.get("/ui/sign-in/issuer"))
    assert answers[-1].status_code == 429
    assert most < len(answers) <= 2 * most + 1
    assert "sign in with a key" in answers[0].text


async def test_forged_tokens(issuer: Issuer, verifier: TokenVerifier) -> None:
    claims = segment({**issuer.claims(exp=4102444800, iat=1)})
    public = issuer.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    good = issuer.token()
    head, body, signature = good.split(".")
    import hashlib
    import hmac

    symmetric = f"{segment({'alg': 'HS256', 'kid': 'first'})}.{claims}"
    mac = base64.urlsafe_b64encode(hmac.digest(public, symmetric.encode(), hashlib.sha256)).rstrip(b"=").decode()
    forged = [
        f"{segment({'alg': 'none', 'kid': 'first'})}.{claims}.",
        f"{segment({'alg': 'None', 'kid': 'first'})}.{claims}.",
        f"{symmetric}.{mac}",
        f"{segment({'alg': 'HS256', 'kid': 'shared'})}.{claims}.{signature}",
        issuer.token(key=rsa.generate_private_key(public_exponent=65537, key_size=2048)),
        f"{head}.{segment(issuer.claims(exp=4102444800, iat=1, groups=['platform']))}.{signature}",
        f"{head}.{body}.",
        f"{head}.{body}",
        f"{segment({'alg': ['RS256'], 'kid': {}})}.{body}.{signature}",
        f"{segment({'alg': 'ES256', 'kid': 'first'})}.{body}.{signature}",
        "a.b.c",
        "",
        "é.é.é",
    ]
    for token in forged:
        with pytest.raises(UnauthenticatedError):
            await verifier.verify(token)
    assert (await verifier.verify(good)).actor == "oidc:alice"


async def test_a_new_key_is_found_but_not_looked_for_all_the_time(
    issuer: Issuer, verifier: TokenVerifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    await verifier.verify(issuer.token())
    for _ in range(5):
        with pytest.raises(UnauthenticatedError):
            await verifier.verify(issuer.token(key_id="unknown"))
    assert issuer.asked.count("/keys") == 1
    issuer.rotate("second")
    monkeypatch.setattr(oidc, "REFRESH_SECONDS", 0.0)
    assert (await verifier.verify(issuer.token())).actor == "oidc:alice"
    assert issuer.asked.count("/keys") == 2


async def test_a_withdrawn_key_is_refused_once_the_keys_are_old(
    issuer: Issuer, verifier: TokenVerifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = issuer.token()
    await verifier.verify(token)
    issuer.rotate("second")
    await verifier.verify(token)  # the keys are not old yet
    monkeypatch.setattr(oidc, "AGE_SECONDS", -1.0)
    monkeypatch.setattr(oidc, "REFRESH_SECONDS", 0.0)
    with pytest.raises(UnauthenticatedError):
        await verifier.verify(token)


async def test_an_issuer_that_is_away(issuer: Issuer, verifier: TokenVerifier, monkeypatch: pytest.MonkeyPatch) -> None:
    issuer.up = False
    with pytest.raises(IssuerError):
        await verifier.verify(issuer.token())
    issuer.up = True
    monkeypatch.setattr(oidc, "REFRESH_SECONDS", 0.0)
    await verifier.verify(issuer.token())
    issuer.up = False
    monkeypatch.setattr(oidc, "AGE_SECONDS", -1.0)
    assert (await verifier.verify(issuer.token())).actor == "oidc:alice"


async def test_an_issuer_that_nobody_answers_for() -> None:
    with oidc_issuer() as gone:
        token, url = gone.token(), gone.url
    verifier = TokenVerifier(oidc.Issuer(url), AUDIENCE, "groups", GRANTS)
    with pytest.raises(IssuerError):
        await verifier.verify(token)
    await verifier.close()


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/.well-known/openid-configuration", {"issuer": "https://evil.example", "jwks_uri": "https://evil.example"}),
        ("/.well-known/openid-configuration", {}),
        ("/.well-known/openid-configuration", []),
        ("/keys", {"keys": [7]}),
        ("/keys", {"keys": None}),
        ("/keys", {"keys": [{"kty": "RSA", "kid": "first", "n": 7, "e": "AQAB"}, {"kty": "RSA", "n": "!", "e": "!"}]}),
        ("/keys", "x" * (2 << 20)),
    ],
)
async def test_an_issuer_that_answers_nonsense(issuer: Issuer, verifier: TokenVerifier, path: str, answer: Any) -> None:
    issuer.answers[path] = answer
    with pytest.raises(IssuerError):
        await verifier.verify(issuer.token())


async def test_keys_are_not_fetched_without_tls(issuer: Issuer, verifier: TokenVerifier) -> None:
    issuer.answers["/.well-known/openid-configuration"] = {"issuer": issuer.url, "jwks_uri": "http://keys.example/"}
    with pytest.raises(IssuerError):
        await verifier.verify(issuer.token())


def test_over_http(issuer: Issuer, tmp_path: Path) -> None:
    settings = {"oidc_issuer": issuer.url, "oidc_audience": AUDIENCE, "oidc_grants": GRANTS}
    with inside(tmp_path, **settings) as (_, url), httpx.Client(base_url=url, timeout=300) as client:

        def ask(token: str, project: str) -> httpx.Response:
            headers = {"Authorization": f"Bearer {token}"}
            return client.get("/v1/export/nothing", params={"project": project}, headers=headers)

        # Both are not found: the trace in one, and the project in the other.
        assert "nothing" in ask(issuer.token(), "shop").json()["detail"]
        assert "secret" in ask(issuer.token(), "secret").json()["detail"]
        assert ask(issuer.token(aud="another"), "shop").status_code == 401


def test_the_client_is_told_to_come_back(tmp_path: Path) -> None:
    with oidc_issuer() as gone:
        token, url = gone.token(), gone.url
    with inside(tmp_path, oidc_issuer=url, oidc_audience=AUDIENCE, oidc_grants=GRANTS) as (_, server):
        answer = httpx.get(f"{server}/v1/export/nothing", headers={"Authorization": f"Bearer {token}"}, timeout=300)
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert url not in answer.text
