"""What a user is advised to do about each error of a model's server, and what a failure costs with each method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from attribution.llm.transport.errors import LlmError, Problem
from attribution.llm.transport.listed import Listed
from attribution.llm.transport.settings import LlmSettings
from attribution.llm.trial.advice import advised, is_unlisted, names
from attribution.llm.trial.costs import USUAL, FailureCost, costs_of
from attribution.llm.trial.speed import Speed
from attribution.verdicts.verdict import Method
from schema.models import Attribution

URL = "http://localhost:1/v1"
OWN = [Listed(("m",), None)]
OTHER = [Listed(("other",), None)]
WANTS = "Does {} (MEMTRACE_LLM_BASE_URL) speak OpenAI's chat completions?{}"
ENDING = " Most servers want /v1 at the end."
NO_KEY = "The server wants a key: set MEMTRACE_LLM_API_KEY or MEMTRACE_LLM_API_KEY_FILE."
WRONG_KEY = "The server does not accept the key in MEMTRACE_LLM_API_KEY or MEMTRACE_LLM_API_KEY_FILE."
WRONG_NAME = "MEMTRACE_LLM_MODEL is 'm', which the server does not list. It lists other."


def _settings(**values: Any) -> LlmSettings:
    return LlmSettings.load(**{"base_url": URL, "model": "m"} | values)


@pytest.mark.parametrize(
    ("status", "kind", "listed", "values", "wanted"),
    [
        (401, Problem.STATUS, OTHER, {}, NO_KEY),
        (403, Problem.STATUS, None, {}, NO_KEY),
        (401, Problem.STATUS, None, {"api_key": "sk-1"}, WRONG_KEY),
        (403, Problem.STATUS, OTHER, {"api_key": "sk-1"}, WRONG_KEY),
        (402, Problem.STATUS, OTHER, {}, "The account has no money left."),
        (404, Problem.STATUS, OTHER, {}, WRONG_NAME),
        (None, Problem.TIMEOUT, OTHER, {}, WRONG_NAME),
        (404, Problem.STATUS, OWN, {}, "MEMTRACE_LLM_BASE_URL or MEMTRACE_LLM_MODEL is wrong."),
        (405, Problem.STATUS, OWN, {}, "MEMTRACE_LLM_BASE_URL or MEMTRACE_LLM_MODEL is wrong."),
        (404, Problem.STATUS, None, {}, WANTS.format(URL, "")),
        (405, Problem.STATUS, [], {}, WANTS.format(URL, "")),
        (404, Problem.STATUS, None, {"base_url": URL + "/"}, WANTS.format(URL + "/", "")),
        (404, Problem.STATUS, None, {"base_url": "http://h:1"}, WANTS.format("http://h:1", ENDING)),
        (429, Problem.STATUS, OWN, {},
         "It allows fewer requests than it gets, or the account is used up: try later, or lower CONCURRENCY."),
        (None, Problem.CONNECTION, OWN, {}, f"Is a server running at {URL} (MEMTRACE_LLM_BASE_URL)?"),
        (None, Problem.TIMEOUT, OWN, {},
         "The model is slow, or the server has much to do: MEMTRACE_LLM_TIMEOUT allows more seconds."),
        (None, Problem.MALFORMED, OWN, {}, WANTS.format(URL, "")),
        (None, Problem.UNREADABLE, OWN, {}, WANTS.format(URL, "")),
        (500, Problem.STATUS, OWN, {}, ""),
        (400, Problem.REFUSED, OWN, {}, ""),
    ],
)  # fmt: skip
def test_what_to_do_about_an_error(
    status: int | None, kind: Problem, listed: Sequence[Listed] | None, values: dict[str, Any], wanted: str
) -> None:
    found = advised(LlmError(kind, "it failed", status), _settings(**values), listed)
    assert found == (f"it failed. {wanted}" if wanted else "it failed")


@pytest.mark.parametrize(
    ("listed", "wanted", "unlisted"),
    [
        (None, "", False),
        ([], "", False),
        ([Listed(("m",), 9)], "It lists m.", False),
        ([Listed(("long/m", "m"), 9), Listed(("n",), 9)], "It lists m, n.", False),
        ([Listed(("n",), 9), Listed(("m", "o"), 9)], "It lists n, o.", False),
        ([Listed(("n" * 101,), 9)], f"It lists {'n' * 100}.", True),
        ([Listed((f"n{n}",), 9) for n in range(10)], f"It lists {', '.join(f'n{n}' for n in range(10))}.", True),
        (
            [Listed((f"n{n}",), 9) for n in range(11)],
            f"It lists {', '.join(f'n{n}' for n in range(10))} and 1 others.",
            True,
        ),
    ],
)
def test_the_models_that_are_shown(listed: Sequence[Listed] | None, wanted: str, unlisted: bool) -> None:
    assert names(listed) == wanted
    assert is_unlisted("m", listed) is unlisted


def _stored(method: Method, tokens: int | None, model: str = "m", **other: Any) -> Attribution:
    return Attribution(
        "a", "p", "t", "f", None, None, None, method, model, None, "[]", "[]",
        tokens=tokens, created_at=None, author=None, **other,
    )  # fmt: skip


def _cost(method: Method, tokens: int, seconds: float | None, cost: float | None, verdicts: int = 0) -> FailureCost:
    return FailureCost(method, tokens, seconds, cost, verdicts)


PRICES = {"input_price": 1.0, "output_price": 10.0}
SPEED = Speed(1_000.0, 100.0)


@pytest.mark.parametrize("values", [{}, {"input_price": 1.0}, {"output_price": 10.0}])
def test_the_usual_cost_without_prices_or_speed(values: dict[str, Any]) -> None:
    usual = [_cost(Method(name), one.input_tokens + one.output_tokens, None, None) for name, one in USUAL.items()]
    assert sorted(costs_of(_settings(**values), None, []), key=str) == sorted(usual, key=str)


@pytest.mark.parametrize(
    ("values", "oneshot"),
    [
        ({}, 31_000),
        ({"context_tokens": 32_000, "output_tokens": 1_000}, 31_000),
        ({"context_tokens": 31_999, "output_tokens": 1_000}, 30_999),
    ],
)
def test_of_a_longer_log_only_what_the_context_holds_is_sent(values: dict[str, Any], oneshot: int) -> None:
    found = {one.method: one for one in costs_of(_settings(**PRICES | values), SPEED, [])}
    assert found[Method.ONESHOT] == _cost(
        Method.ONESHOT, oneshot + 500, SPEED.seconds(oneshot, 500), (oneshot + 5_000) / 1e6
    )
    assert found[Method.LLM].tokens == 34_000


def test_the_medians_of_the_models_own_verdicts() -> None:
    verdicts = [
        _stored(Method.WALK, 100, seconds=1.0, cost=0.1),
        _stored(Method.WALK, 201, seconds=3.0, cost=0.3),
        _stored(Method.WALK, 900, seconds=None, cost=None),
        _stored(Method.WALK, 9_000, "other", seconds=9.0, cost=9.0),
        _stored(Method.WALK, None, seconds=9.0, cost=9.0),
        _stored(Method.FLOW, 7, seconds=0.5, cost=0.0),
    ]
    found = {one.method: one for one in costs_of(_settings(**PRICES), SPEED, verdicts)}
    assert found[Method.WALK] == _cost(Method.WALK, 201, 1.0, 0.1, 3)
    assert found[Method.FLOW] == _cost(Method.FLOW, 7, 0.5, 0.0, 1)
    without = {one.method: one for one in costs_of(_settings(), SPEED, verdicts)}
    assert without[Method.WALK] == _cost(Method.WALK, 201, 1.0, None, 3)
