"""Budgets: charged before a call, settled after it, and never overrun."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.llm.transport.budget import Limits, LlmBudget
from attribution.llm.transport.errors import BudgetError
from attribution.verdicts.usage import Usage


class Clock:
    """Time that tests set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_call_is_charged_while_it_runs_and_settled_after() -> None:
    budget = LlmBudget(Limits(tokens=100))
    with budget.charge(Usage(50, 20, 1, 0.0)) as charge:
        assert budget.tokens_left == 30
        charge.used = Usage(10, 5, 1, 0.0)
    assert budget.tokens_left == 85
    assert budget.spent == Usage(10, 5, 1, 0.0)


def test_what_is_unknown_is_settled_with_the_estimate() -> None:
    budget = LlmBudget(Limits(tokens=100))
    with pytest.raises(KeyError), budget.charge(Usage(50, 20, 1, 0.5)):
        raise KeyError
    assert budget.spent == Usage(50, 20, 1, 0.5)


@pytest.mark.parametrize(
    ("limits", "wanted", "message"),
    [
        (Limits(tokens=100), Usage(90, 11, 1), "0 of 100 tokens are spent"),
        (Limits(calls=0), Usage(1, 1, 1), "0 of 0 calls are spent"),
        (Limits(cost=0.5), Usage(1, 1, 1, 0.51), "0.0000 of 0.5000 cost are spent"),
    ],
)
def test_what_could_overrun_is_refused(limits: Limits, wanted: Usage, message: str) -> None:
    budget = LlmBudget(limits)
    with pytest.raises(BudgetError, match=message), budget.charge(wanted):
        pass
    assert budget.spent == Usage()
    assert not budget.allows(wanted)


def test_calls_under_way_count() -> None:
    budget = LlmBudget(Limits(tokens=100))
    with budget.charge(Usage(60, 0, 1)), pytest.raises(BudgetError) as caught, budget.charge(Usage(60, 0, 1)):
        pass
    assert (caught.value.scope, caught.value.kind, caught.value.limit, caught.value.spent) == (
        "case",
        "tokens",
        100,
        60,
    )


def test_the_parents_limit_holds_for_all_children() -> None:
    run = LlmBudget(Limits(tokens=100), "run")
    one, other = LlmBudget(Limits(), parent=run), LlmBudget(Limits(), parent=run)
    with one.charge(Usage(60, 0, 1)):
        pass
    with pytest.raises(BudgetError, match="budget of the run"), other.charge(Usage(60, 0, 1)):
        pass
    assert other.tokens_left == 40
    assert run.spent == Usage(60, 0, 1)
    assert other.spent == Usage()


def test_time_runs_out() -> None:
    clock = Clock()
    budget = LlmBudget(Limits(seconds=10), clock=clock)
    clock.now += 4
    assert budget.seconds_left == 6
    with budget.charge(Usage(calls=1)):
        pass
    clock.now += 6
    assert budget.seconds_left == 0
    with pytest.raises(BudgetError, match=r"10\.0 of 10\.0 seconds"), budget.charge(Usage(calls=1)):
        pass


def test_the_nearest_limit_of_time_counts() -> None:
    clock = Clock()
    run = LlmBudget(Limits(seconds=5), "run", clock=clock)
    clock.now += 3
    case = LlmBudget(Limits(seconds=10), "case", run, clock)
    assert case.seconds_left == 2
    assert case.out_of_time().scope == "run"


def test_a_replay_counts_for_the_case_and_not_for_the_run() -> None:
    run = LlmBudget(Limits(), "run")
    case = LlmBudget(Limits(calls=2), "case", run)
    case.replay(Usage(10, 1, 1, 0.1))
    case.replay(Usage(10, 1, 1, 0.1))
    with pytest.raises(BudgetError):
        case.replay(Usage(10, 1, 1, 0.1))
    assert run.spent == Usage()
    assert case.spent == Usage(20, 2, 2, 0.2)


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.floats(0, 1)), max_size=40),
    st.integers(0, 300),
    st.integers(0, 20),
)
def test_no_sequence_of_calls_overruns(calls: list[tuple[int, int, float]], tokens: int, most_calls: int) -> None:
    """Whatever calls really use, as long as it is not more than their estimate."""
    budget = LlmBudget(Limits(tokens=tokens, calls=most_calls, cost=tokens / 1000))
    for input_tokens, output_tokens, share in calls:
        estimate = Usage(input_tokens, output_tokens, 1, (input_tokens + output_tokens) / 1000)
        try:
            with budget.charge(estimate) as charge:
                used = int(input_tokens * share), int(output_tokens * share)
                charge.used = Usage(*used, 1, sum(used) / 1000)
        except BudgetError:
            continue
    assert budget.spent.input_tokens + budget.spent.output_tokens <= tokens
    assert budget.spent.calls <= most_calls
    assert budget.spent.cost <= tokens / 1000 + 1e-9


def test_no_seconds_pass_while_a_budget_is_paused() -> None:
    clock = Clock()
    budget = LlmBudget(Limits(seconds=10.0), clock=clock)
    clock.now += 4
    with budget.paused():
        clock.now += 800
    assert budget.seconds_left == pytest.approx(6.0)
    clock.now += 6
    with pytest.raises(BudgetError, match="seconds"):
        budget.check(Usage(1, 1, 1))


def test_what_is_used_beside_a_budget_counts_for_no_limit() -> None:
    budget = LlmBudget(Limits(tokens=100))
    budget.beside += Usage(9_000, 900, 41, 0.25)
    with budget.charge(Usage(60, 20, 1, 0.5)) as charge:
        charge.used = Usage(50, 10, 1, 0.5)
    assert (budget.tokens_left, budget.spent.calls) == (40, 1)
    assert budget.used == Usage(9_050, 910, 42, 0.75)
