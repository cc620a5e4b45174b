"""From a header to a principal, without a server: what counts for which limit, and what each refusal says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from api.auth.access import Principal
from api.auth.asker import Asker
from api.auth.keys import make_key
from api.auth.verify import Verifier
from api.errors import RateLimitedError, UnauthenticatedError
from schema.control import ApiKey, Role
from schema.errors import MemTraceError
from store.contract.records import Registry

NOW = datetime.now(UTC)
STRANGE = [f"Bearer mt_{number:016x}_{'a' * 43}" for number in range(5)]


class Kept:
    """A registry with some keys."""

    def __init__(self, *keys: ApiKey) -> None:
        self.keys = {key.id: key for key in keys}
        self.used: dict[str, datetime] = {}

    async def key(self, key_id: str) -> ApiKey | None:
        return self.keys.get(key_id)

    async def touch_keys(self, used: dict[str, datetime]) -> None:
        self.used |= used


class Tokens:
    """Takes all tokens, and notes them."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.is_closed = False

    async def verify(self, token: str) -> Principal:
        self.seen.append(token)
        return Principal("oidc:ada", {"shop": Role.READER})

    async def close(self) -> None:
        self.is_closed = True


def made(name: str = "ci", **more: Any) -> tuple[str, ApiKey]:
    text, key = make_key("shop", name, Role.WRITER, "tests", NOW)
    return f"Bearer {text}", replace(key, **more)


def verifier(*keys: ApiKey, rate: str = "1000/minute", tokens: Any = None) -> Verifier:
    return Verifier(cast(Registry, Kept(*keys)), rate, tokens)


async def refusal(one: Verifier, header: str | None, client: str | None = None) -> type[MemTraceError] | None:
    try:
        await one.verify(header, client)
    except MemTraceError as error:
        return type(error)
    return None


async def test_each_principal_has_its_own_limit_which_rechecks_do_not_use() -> None:
    (header, key), (other, another) = made("ci"), made("batch")
    one = verifier(key, another, rate="2/minute")
    for _ in range(5):
        await one.recheck(header)
    assert [await refusal(one, header) for _ in range(4)] == [None, None, RateLimitedError, RateLimitedError]
    assert await refusal(one, other) is None
    await one.recheck(header)
    with pytest.raises(UnauthenticatedError):
        await one.recheck(None)


async def test_unknown_keys_are_guesses_of_their_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.auth.verify.GUESSES", "2/minute")
    (known, key), (new, another) = made("known"), made("new")
    one = verifier(key, another)
    assert await refusal(one, known, "here") is None
    wrong = known[:-1] + ("a" if known[-1] != "a" else "b")
    found = [await refusal(one, header, "here") for header in (wrong, wrong, wrong, *STRANGE[:3])]
    # A wrong secret of a known key is no guess: the key is not looked up.
    assert found == [UnauthenticatedError] * 5 + [RateLimitedError]
    assert await refusal(one, known, "here") is None
    assert await refusal(one, new, "here") is RateLimitedError
    assert await refusal(one, new, "there") is None
    assert await refusal(one, new, "here") is None, "now it is known"
    assert [await refusal(one, header, None) for header in STRANGE] == [UnauthenticatedError] * 5


async def test_a_refused_look_up_is_no_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    """Good keys that this process has not seen yet use up nothing."""
    monkeypatch.setattr("api.auth.verify.GUESSES", "2/minute")
    some = [made(str(number)) for number in range(4)]
    one = verifier(*(key for _, key in some))
    assert [await refusal(one, header, "here") for header, _ in some] == [None] * 4


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"revoked_at": NOW}, "this API key is revoked"),
        ({"expires_at": NOW - timedelta(seconds=1)}, "this API key has expired"),
        ({"secret_hash": "0" * 64}, "this API key is unknown"),
    ],
)
async def test_a_refusal_says_why_and_is_no_use(change: dict[str, Any], told: str) -> None:
    header, key = made(**change)
    one = verifier(key)
    with pytest.raises(UnauthenticatedError, match=told):
        await one.verify(header)
    registry = cast(Any, one._uses)._registry
    await one.stop()
    assert registry.used == {}


async def test_a_good_key_is_a_principal_and_its_use_is_kept_at_the_end() -> None:
    header, key = made(person="Ada", expires_at=NOW + timedelta(hours=1))
    nameless, other = made("ci")
    tokens = Tokens()
    one = verifier(key, other, tokens=tokens)
    found = await one.verify(f"bearer  {header.removeprefix('Bearer ')} ")
    assert (found.actor, found.grants, found.expires_at, found.person) == (
        f"key:{key.id}",
        {"shop": Role.WRITER},
        key.expires_at,
        "Ada",
    )
    assert (await one.verify(nameless)).person == "ci"
    registry = cast(Any, one._uses)._registry
    await one.stop()
    assert registry.used.keys() == {key.id, other.id}
    assert tokens.is_closed
    assert tokens.seen == []


async def test_what_has_not_the_form_of_a_key_is_a_token_where_tokens_are_taken() -> None:
    tokens = Tokens()
    one = verifier(tokens=tokens)
    assert (await one.verify("Bearer a.b.c")).actor == "oidc:ada"
    for header in ("Bearer mt_short", "Basic a.b.c", "Bearer ", "Bearer", f"Bearer {'x' * 16_384}"):
        assert await refusal(one, header) is UnauthenticatedError
    assert tokens.seen == ["a.b.c"]
    longest = "x" * (16_384 - len("Bearer "))
    assert await refusal(one, f"Bearer {longest}") is None
    with pytest.raises(UnauthenticatedError, match=r"a key is \d+ characters that begin with mt_; 5 were sent"):
        await verifier().verify("Bearer a.b.c")


async def test_a_request_is_verified_once_whatever_the_result() -> None:
    header, key = made()
    one = verifier(key, rate="1/minute")
    asker = Asker(one, header, None)
    first = await asker.principal()
    assert await asker.principal() is first
    again = Asker(one, header, None)
    errors = []
    for _ in range(2):
        with pytest.raises(RateLimitedError) as caught:
            await again.principal()
        errors.append(caught.value)
    assert errors[0] is errors[1]
