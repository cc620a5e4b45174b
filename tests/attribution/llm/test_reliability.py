"""What a model's judgements are worth, by controls whose right reply is known."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attribution.llm.transport.cache import Cache
from attribution.llm.walk.asking import DROPPED, HOLDS, KINDS, SAME, SUPPORTS, controls
from attribution.llm.walk.reliability import Counts, Reliability, changed, measure
from tests.attribution.llm.caches import MemoryCache
from tests.attribution.llm.conftest import Clients
from tests.attribution.llm.judging import judging
from tests.llm_server import LlmServer, fail, say


def _none(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    raise AssertionError(f"{kind} is no control: {data}")


async def _measured(clients: Clients, cache: Cache | None = None) -> Reliability:
    return await measure(clients(cache, retries=0))


async def test_a_model_that_is_right_changes_much(clients: Clients, server: LlmServer) -> None:
    server.script(judging(_none), repeat=True)
    found = await _measured(clients)
    assert found.share > 0.95
    assert found.is_trusted
    assert found.problems == ()
    for kind in (SAME, HOLDS, SUPPORTS):
        assert found.factor(kind, yes=True) > 8
        assert found.factor(kind, yes=False) < 0.2
    assert found.step_factor > 8
    assert all(map(found.is_worth, KINDS))
    assert found.document()[SAME] == "20 of 20"


async def test_a_model_that_always_says_yes_changes_nothing_by_it(clients: Clients, server: LlmServer) -> None:
    server.script(judging(_none, guesses=True), repeat=True)
    found = await _measured(clients)
    assert not found.is_trusted
    for kind in (SAME, SUPPORTS):
        assert found.factor(kind, yes=True) == pytest.approx(1.0)
        assert not found.is_worth(kind)
    assert not found.is_worth(DROPPED)
    assert found.factor(HOLDS, yes=True) < 2


async def test_a_model_without_a_usable_reply_is_not_asked(clients: Clients, server: LlmServer) -> None:
    server.script(say("I like words."), repeat=True)
    found = await _measured(clients)
    assert (found.share, found.is_trusted) == (0.0, False)
    assert not any(map(found.is_worth, KINDS))
    assert found.problems == ("a reply does not have the form that was asked for",)


async def test_a_server_that_is_away_is_tried_once(clients: Clients, server: LlmServer) -> None:
    server.script(fail(401, "no"), repeat=True)
    found = await _measured(clients)
    assert len(server.requests) == 1
    assert not any(map(found.is_worth, KINDS))
    assert found.problems


async def test_controls_are_asked_once_for_a_model(clients: Clients, server: LlmServer) -> None:
    server.script(judging(_none), repeat=True)
    cache = MemoryCache()
    first = await _measured(clients, cache)
    count = len(server.requests)
    assert count == sum(map(len, json.loads(controls()).values()))
    assert await _measured(clients, cache) == first
    assert len(server.requests) == count


def test_a_model_that_is_wrong_is_not_believed_either_way() -> None:
    wrong = Counts(true=(10, 1, 9), false=(10, 9, 1))
    assert (wrong.factor(yes=True), wrong.factor(yes=False)) == (1.0, 1.0)


def test_a_factor_is_a_ratio_of_rates() -> None:
    counts = Counts(true=(10, 7, 2), false=(10, 1, 8))
    assert counts.factor(yes=True) == pytest.approx(7.5 / 1.5)
    assert counts.factor(yes=False) == pytest.approx(2.5 / 8.5)


def test_a_factor_changes_the_odds() -> None:
    assert changed(0.5, 4.0) == pytest.approx(0.8)
    assert changed(0.2, 1.0) == pytest.approx(0.2)
    assert changed(0.9, 1 / 9) == pytest.approx(0.5)
    assert (changed(0.0, 5.0), changed(1.0, 0.1)) == pytest.approx((0.0, 1.0))
