"""Budgets of an agent: they hold, and what was paid for is not paid for again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from attribution.llm.agent.agent import Agent
from attribution.llm.transport.budget import Limits, LlmBudget
from attribution.verdicts.usage import Usage
from attribution.verdicts.verdict import Verdict
from schema.kinds import ErrorType
from tests.attribution.llm.caches import MemoryCache
from tests.attribution.llm.conftest import Clients
from tests.attribution.llm.story import Story
from tests.llm_server import HANG, Answer, LlmServer, Request, call, fail


async def _attribute(clients: Clients, story: Story, **settings: Any) -> Verdict:
    return await Agent(clients(**settings)).attribute(story.graph, story.failure, story.evidence)


async def test_only_a_proposal_is_offered_when_the_budget_ends(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    server.script(*(call(("search", {"words": f"Leeds {number}"})) for number in range(5)))
    verdict = await _attribute(clients, story, max_calls=5)
    assert [request.tools == ["propose_verdict"] for request in server.requests] == [False] * 3 + [True] * 2
    assert verdict.error_type is None
    said = "the budget of the case allows no further call: 5 of 5 calls are spent (MEMTRACE_LLM_MAX_CALLS)"
    assert verdict.reason == said
    assert verdict.usage.calls == 5


async def test_only_a_proposal_is_offered_when_the_time_ends(clients: Clients, server: LlmServer, story: Story) -> None:
    """Each reply takes 20 of 100 seconds: there is room for a proposal, and for another if it can't stand."""
    now = 0.0

    def slow(request: Request) -> Answer:
        nonlocal now
        now += 20
        return call(("search", {"words": f"Leeds {now}"}))

    server.script(slow, repeat=True)
    budget = LlmBudget(Limits(seconds=100), clock=lambda: now)
    verdict = await Agent(clients()).attribute(story.graph, story.failure, story.evidence, budget=budget)
    assert [request.tools == ["propose_verdict"] for request in server.requests] == [False] * 3 + [True] * 2
    assert "of 100.0 seconds are spent" in verdict.reason


async def test_budget_of_tokens_holds(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(call(("read_value", {"variable": story.v("long")}), usage=(9_000, 900)), repeat=True)
    verdict = await _attribute(clients, story, max_tokens=60_000, max_calls=None, output_tokens=1_000)
    assert "tokens are spent" in verdict.reason
    assert 40_000 < verdict.usage.input_tokens + verdict.usage.output_tokens <= 60_000


async def test_budget_of_money_holds(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(call(("search", {"words": "Leeds"}), usage=(9_000, 900)), repeat=True)
    verdict = await _attribute(clients, story, max_cost=0.15, max_calls=None, max_tokens=None, output_tokens=1_000)
    assert "cost are spent" in verdict.reason
    assert 0.08 < verdict.usage.cost <= 0.15


async def test_budget_of_seconds_ends_a_request_under_way(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(HANG)
    verdict = await _attribute(clients, story, max_seconds=0.2)
    assert "of 0.2 seconds are spent" in verdict.reason
    assert len(server.requests) <= 1


async def test_a_wait_beyond_the_seconds_is_not_begun(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(fail(429, "slow down", retry_after="3600"))
    verdict = await _attribute(clients, story, max_seconds=100)
    assert "of 100.0 seconds are spent" in verdict.reason
    assert clients.waits == []


async def test_a_shared_budget_counts_what_was_spent_before(clients: Clients, server: LlmServer, story: Story) -> None:
    budget = LlmBudget(Limits(calls=10))
    budget.replay(Usage(1_000, 10, 3, 0.5))
    server.script(call(("propose_verdict", story.proposal())))
    verdict = await Agent(clients()).attribute(story.graph, story.failure, story.evidence, budget=budget)
    assert verdict.usage.calls == 4
    assert verdict.usage.input_tokens == 1_100


async def test_run_budget_holds_over_cases(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(call(("propose_verdict", story.proposal()), usage=(30_000, 100)), repeat=True)
    client = clients(run_max_tokens=90_000, output_tokens=1_000)
    agent = Agent(client)
    verdicts = [await agent.attribute(story.graph, story.failure, story.evidence) for _ in range(4)]
    assert [verdict.error_type is None for verdict in verdicts] == [False, False, True, True]
    assert "the budget of the run" in verdicts[2].reason
    assert client.run_budget.spent.input_tokens <= 90_000


async def test_a_second_run_does_not_pay_again(clients: Clients, server: LlmServer, story: Story) -> None:
    """A run that was killed after the first reply repeats nothing that it paid for."""
    cache = MemoryCache()
    server.script(call(("search", {"words": "Leeds"}), usage=(500, 50)), HANG)
    killed = asyncio.create_task(Agent(clients(cache)).attribute(story.graph, story.failure, story.evidence))
    assert await asyncio.to_thread(server.hanging.wait, 30)
    killed.cancel()
    with pytest.raises(asyncio.CancelledError):
        await killed
    server.script(call(("propose_verdict", story.proposal()), usage=(700, 70)))
    client = clients(cache)
    verdict = await Agent(client).attribute(story.graph, story.failure, story.evidence)
    assert len(server.requests) == 3
    assert verdict.error_type is ErrorType.UPDATE
    # The verdict's cost includes the earlier run's replies; this run paid for one reply only.
    assert verdict.usage == Usage(1_200, 120, 2, 1_000 / 1e6 + 1_400 / 1e6)
    assert client.run_budget.spent.calls == 1


async def test_a_second_run_repeats_nothing_though_the_first_had_to_try_again(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    cache = MemoryCache()
    refusal = fail(400, "Unsupported parameter: 'temperature'")
    search = call(("search", {"words": "Leeds"}))
    server.script(refusal, fail(500), search, fail(503), search, call(("propose_verdict", story.proposal())))
    first = await Agent(clients(cache)).attribute(story.graph, story.failure, story.evidence)
    assert first.usage.calls == 6
    again = await Agent(clients(cache)).attribute(story.graph, story.failure, story.evidence)
    # The refusal, which cost nothing, is remembered, and all replies came from the cache.
    assert (again.path, again.usage) == (first.path, replace(first.usage, calls=5))
    assert len(server.requests) == 6
