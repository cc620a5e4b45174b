"""What a model's judgements are worth: controls are asked where they are due, and once for a server and a model."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from attribution.llm.transport.cache import Cache
from attribution.llm.walk.asking import DROPPED, HOLDS, KINDS, SAME, SUPPORTS, controls
from attribution.llm.walk.measuring import Measure
from attribution.llm.walk.reliability import Reliability
from attribution.verdicts.usage import Usage
from tests.attribution.llm.caches import MemoryCache
from tests.attribution.llm.conftest import Clients
from tests.attribution.llm.judging import data_of, judging, kind_of, right_reply
from tests.llm_server import Answer, LlmServer, Request, fail, give, say

SIZES = {kind: len(some) for kind, some in json.loads(controls()).items()}


def _none(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    raise AssertionError(f"{kind} is no control: {data}")


def _measure(clients: Clients, cache: Cache | None = None, **settings: Any) -> Measure:
    return Measure(clients(cache, **{"retries": 0} | settings))


async def _all(measure: Measure) -> Reliability:
    """What is known after the controls of all kinds."""
    found = Reliability()
    for kind in KINDS:
        found, _ = await measure.of(kind)
    return found


async def test_a_model_that_is_right_changes_much(clients: Clients, server: LlmServer) -> None:
    server.script(judging(_none), repeat=True)
    found = await _all(_measure(clients))
    assert found.problems == ()
    for kind in (SAME, HOLDS, SUPPORTS):
        assert found.factor(kind, yes=True) > 8
        assert found.factor(kind, yes=False) < 0.2
    assert found.step_factor > 8
    assert all(map(found.is_worth, KINDS))
    assert found.document()[SAME] == "20 of 20"


async def test_a_model_that_always_says_yes_changes_nothing_by_it(clients: Clients, server: LlmServer) -> None:
    server.script(judging(_none, guesses=True), repeat=True)
    found = await _all(_measure(clients))
    for kind in (SAME, SUPPORTS):
        assert found.factor(kind, yes=True) == pytest.approx(1.0)
        assert not found.is_worth(kind)
    assert not found.is_worth(DROPPED)
    assert found.factor(HOLDS, yes=True) < 2


async def test_a_model_without_a_usable_reply_is_not_asked(clients: Clients, server: LlmServer) -> None:
    server.script(say("I like words."), repeat=True)
    found = await _all(_measure(clients))
    assert not any(map(found.is_worth, KINDS))
    assert found.problems == ("a reply does not have the form that was asked for",)


async def test_a_server_that_is_away_is_tried_once_in_a_run(clients: Clients, server: LlmServer) -> None:
    server.script(fail(401, "no"), repeat=True)
    cache = MemoryCache()
    measure = _measure(clients, cache)
    found = await _all(measure)
    assert await measure.may_explore() == (False, Usage())
    assert len(server.requests) == 1
    assert not any(map(found.is_worth, KINDS))
    assert found.problems
    server.script(judging(_none), repeat=True)
    assert all(map((await _all(_measure(clients, cache))).is_worth, KINDS))


@pytest.mark.parametrize("kind", KINDS)
async def test_only_controls_of_the_kind_that_is_due_are_asked(clients: Clients, server: LlmServer, kind: str) -> None:
    server.script(judging(_none), repeat=True)
    measure = _measure(clients)
    found, used = await measure.of(kind)
    assert Counter(map(kind_of, server.requests)) == {kind: SIZES[kind]}
    assert (used.calls, used.input_tokens) == (SIZES[kind], 100 * SIZES[kind])
    assert [one for one in KINDS if found.is_worth(one)] == [kind]
    assert await measure.of(kind) == (found, Usage())
    assert len(server.requests) == SIZES[kind]


async def test_what_was_measured_is_kept_for_the_server_and_the_model(clients: Clients, server: LlmServer) -> None:
    server.script(judging(_none), repeat=True)
    cache = _Measured()
    first = await _all(_measure(clients, cache))
    count = len(server.requests)
    assert count == sum(SIZES.values())
    again = _measure(clients, cache)
    assert [await again.of(kind) for kind in KINDS][-1] == (first, Usage())
    assert len(server.requests) == count
    await _measure(clients, cache, model="other").of(DROPPED)
    await _measure(clients, cache, temperature=0.7).of(DROPPED)
    assert len(server.requests) == count + 2 * SIZES[DROPPED]


async def test_what_another_version_kept_is_measured_again(clients: Clients, server: LlmServer) -> None:
    server.script(judging(_none), repeat=True)
    cache = _Measured()
    first = await _measure(clients, cache).of(DROPPED)
    cache.spoil()
    assert await _measure(clients, cache).of(DROPPED) == first
    assert len(server.requests) == 2 * SIZES[DROPPED]


async def test_a_model_may_explore_after_all_controls(clients: Clients, server: LlmServer) -> None:
    server.script(judging(_none), repeat=True)
    measure = _measure(clients)
    await measure.of(SAME)
    may, used = await measure.may_explore()
    assert (may, used.calls) == (True, sum(SIZES.values()) - SIZES[SAME])


@pytest.mark.parametrize(("wrong", "may"), [(4, True), (5, False)])
async def test_a_model_may_explore_that_is_right_in_nine_of_ten(
    clients: Clients, server: LlmServer, wrong: int, may: bool
) -> None:
    server.script(_wrong_in(SAME, wrong), repeat=True)
    assert (await _measure(clients).may_explore())[0] is may


async def test_controls_end_when_too_many_are_wrong(clients: Clients, server: LlmServer) -> None:
    server.script(_wrong_in(DROPPED, 5), repeat=True)
    measure = _measure(clients)
    may, used = await measure.may_explore()
    assert (may, used.calls) == (False, SIZES[DROPPED])
    assert (await measure.may_explore()) == (False, Usage())
    assert set(map(kind_of, server.requests)) == {DROPPED}


class _Measured(MemoryCache):
    """Keeps what was measured, but no replies."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: set[str] = set()

    async def put(self, key: str, body: bytes) -> None:
        if b"cases" in body and b"choices" not in body:
            self._kept.add(key)
            await super().put(key, body)

    def spoil(self) -> None:
        """Keep everything in a form that this version does not know."""
        for key in self._kept:
            self._bodies[key] = b'{"share": 0.5}'


def _wrong_in(kind: str, wrong: int) -> Any:
    """A model that is right, but for the first controls of a kind."""
    right = judging(_none)
    left = [wrong]

    def script(request: Request) -> Answer:
        if kind_of(request) == kind and left[0]:
            left[0] -= 1
            known = right_reply(kind, data_of(request)) or {}
            opposite = {"same": not known.get("same")} if kind == SAME else {"step": 0}
            return give(known | opposite)
        return right(request)

    return script
