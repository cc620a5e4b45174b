"""The limits of live calls of models during a replay, at their borders."""

from __future__ import annotations

import threading

import pytest
from memtrace.replay.budget import Budget, Spent

PRICES = {"input": 2.0, "output": 10.0}


@pytest.mark.parametrize("calls", [0, 1, 3])
def test_calls_up_to_the_limit_are_made(calls: int) -> None:
    budget = Budget(calls=calls)
    assert [budget.take() for _ in range(calls)] == [None] * calls
    assert budget.take() == f"the limit of {calls} live calls of models is reached"
    assert budget.spent() == Spent(calls, 0, None)


def test_without_limits_every_call_is_made() -> None:
    budget = Budget()
    assert [budget.take() for _ in range(50)] == [None] * 50
    budget.used({"input": 7})
    budget.used({"output": 5, "input": 1})
    assert budget.spent() == Spent(50, 13, None)


@pytest.mark.parametrize(
    ("tokens", "cost", "goes_on"),
    [
        ({"input": 499_999}, 0.999_998, True),
        ({"input": 500_000}, 1.0, False),
        ({"output": 99_999}, 0.999_99, True),
        ({"output": 100_000}, 1.0, False),
        ({"input": 250_000, "output": 50_000}, 1.0, False),
        ({"input": 1_000_000, "output": 100_000}, 3.0, False),
    ],
)
def test_no_call_is_made_once_the_cost_is_spent(tokens: dict[str, int], cost: float, goes_on: bool) -> None:
    budget = Budget(cost=1.0, prices=PRICES)
    assert budget.take() is None
    budget.used(tokens)
    spent = budget.spent()
    assert (spent.calls, spent.tokens) == (1, sum(tokens.values()))
    assert spent.cost == pytest.approx(cost)
    assert budget.take() == (None if goes_on else "the limit of the cost of models is reached")
    assert budget.spent().calls == 1 + goes_on


def test_a_cost_without_prices_limits_nothing() -> None:
    budget = Budget(cost=0.0)
    budget.used({"input": 10**9})
    assert budget.take() is None
    assert Budget(cost=0.0, prices=PRICES).take() == "the limit of the cost of models is reached"


def test_threads_share_a_limit() -> None:
    budget = Budget(calls=100)
    refused: list[str] = []

    def ask() -> None:
        refused.extend(reason for _ in range(50) if (reason := budget.take()) is not None)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (len(refused), budget.spent().calls) == (100, 100)
