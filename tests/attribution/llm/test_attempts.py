"""A request that is repeated: what each attempt is charged with, how long is waited, and when it is given up."""

from __future__ import annotations

import asyncio

import pytest

from attribution.llm.transport.attempts import Answer, Attempts, Request
from attribution.llm.transport.budget import Limits, LlmBudget
from attribution.llm.transport.errors import BudgetError, LlmError, Problem
from attribution.llm.transport.faults import Fault
from attribution.llm.transport.reply import Tokens
from attribution.llm.transport.settings import LlmSettings
from attribution.verdicts.usage import Usage

ESTIMATE = Usage(100, 50, 1, 0.5)
REAL = Usage(10, 5, 1, 0.05)


def fault(*, passing: bool = True, paid: bool = False, wait: float | None = None) -> Fault:
    return Fault(Problem.STATUS, "no", passing=passing, paid=paid, wait=wait)


class _Server:
    """Gives answers in turn, and notes how long was waited in between."""

    def __init__(self, *answers: str | Fault, retries: int = 5, timeout: float = 30.0) -> None:
        self.waits: list[float] = []
        self.seconds: list[float] = []
        self._answers = list(answers)
        settings = LlmSettings(base_url="http://h/v1", model="m", retries=retries, backoff=1.0, timeout=timeout)
        self._attempts = Attempts(settings, self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def ask(self, budget: LlmBudget | None = None) -> Answer[str]:
        async def send(seconds: float) -> str | Fault:
            self.seconds.append(seconds)
            answer = self._answers.pop(0)
            if answer == "never":
                await asyncio.Event().wait()
            return answer

        def read(body: str) -> tuple[str, Tokens | None]:
            if body == "malformed":
                raise ValueError
            return body.upper(), Tokens(10, 5) if body == "counted" else None

        request = Request(send, ESTIMATE, lambda tokens: Usage(tokens.input, tokens.output, 1, 0.05))
        return await self._attempts.run(request, budget or LlmBudget(Limits()), read)


@pytest.mark.parametrize(
    ("answers", "total"),
    [
        (["counted"], REAL),
        (["not counted"], ESTIMATE),
        ([fault(), "counted"], Usage(calls=1) + REAL),
        ([fault(paid=True), "counted"], ESTIMATE + REAL),
        (["malformed", "counted"], ESTIMATE + REAL),
        ([fault(), fault(paid=True), "not counted"], Usage(calls=1) + ESTIMATE + ESTIMATE),
    ],
)
async def test_each_attempt_is_charged_with_what_it_may_have_cost(answers: list[str | Fault], total: Usage) -> None:
    budget = LlmBudget(Limits())
    found = await _Server(*answers).ask(budget)
    assert found.total == budget.spent == total
    assert found.used == (REAL if answers[-1] == "counted" else ESTIMATE)
    assert found.found == str(answers[-1]).upper()


async def test_what_did_not_come_in_time_may_have_cost_something() -> None:
    budget = LlmBudget(Limits())
    assert (await _Server("never", "counted", timeout=0.01).ask(budget)).total == ESTIMATE + REAL
    with pytest.raises(LlmError, match=r"not answer within 0\.01 s"):
        await _Server("never", timeout=0.01, retries=0).ask(budget)
    assert budget.spent == ESTIMATE + REAL + ESTIMATE


@pytest.mark.parametrize(("first", "attempts"), [(fault(), 3), (fault(passing=False), 1), ("malformed", 3)])
async def test_what_may_pass_is_tried_again_a_few_times(first: str | Fault, attempts: int) -> None:
    server, budget = _Server(*[first] * 5, retries=2), LlmBudget(Limits())
    with pytest.raises(LlmError):
        await server.ask(budget)
    assert len(server.seconds) == budget.spent.calls == attempts
    assert len(server.waits) == attempts - 1


async def test_the_wait_doubles_up_to_a_minute_and_is_at_least_what_the_server_asks_for() -> None:
    server = _Server(*[fault()] * 9, "counted", retries=9)
    await server.ask()
    for number, wait in enumerate(server.waits):
        longest = min(2.0**number, 60.0)
        assert longest / 2 <= wait <= longest
    server = _Server(fault(wait=7.5), fault(wait=0.0), fault(wait=300.0), "counted")
    await server.ask()
    assert (server.waits[0], server.waits[2]) == (7.5, 300.0)
    assert 1.0 <= server.waits[1] <= 2.0


async def test_a_wait_that_is_too_long_is_not_begun() -> None:
    server = _Server(fault(wait=300.5), "counted")
    with pytest.raises(LlmError, match="it asks to wait"):
        await server.ask()
    clock = iter([0.0] * 100)
    budget = LlmBudget(Limits(seconds=20.0), clock=lambda: next(clock))
    server = _Server(fault(wait=20.0), "counted")
    with pytest.raises(BudgetError, match="seconds"):
        await server.ask(budget)
    server = _Server(fault(wait=19.5), "counted")
    assert (await server.ask(budget)).found == "COUNTED"
    assert server.waits == [19.5]
    assert server.seconds == [20.0, 20.0], "no request may take longer than is left"


async def test_an_attempt_that_could_exceed_the_budget_is_not_made() -> None:
    server, budget = _Server(fault(paid=True), "counted"), LlmBudget(Limits(tokens=299))
    with pytest.raises(BudgetError, match="tokens"):
        await server.ask(budget)
    assert (len(server.seconds), budget.spent) == (1, ESTIMATE)
    server, budget = _Server(fault(paid=True), "counted"), LlmBudget(Limits(tokens=300))
    assert (await server.ask(budget)).total == ESTIMATE + REAL
