"""The client: attempts at a request, and what they are charged with."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from attribution.llm.transport.budget import Limits, LlmBudget
from attribution.llm.transport.client import LlmClient
from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.errors import BudgetError, LlmError, Problem
from attribution.llm.transport.reply import Reply
from attribution.verdicts.usage import Usage
from tests.attribution.llm.conftest import Clients
from tests.llm_server import (
    DRIP,
    DROP,
    ENDLESS,
    GARBAGE,
    HANG,
    Answer,
    LlmServer,
    fail,
    llm_server,
    say,
)

HTML = Answer(b"<html><body>Bad gateway</body></html>", 502)


def _talk() -> Conversation:
    return Conversation("You are asked.", "How warm is it?")


async def _complete(client: LlmClient, budget: LlmBudget | None = None) -> Reply:
    return await client.complete(_talk(), budget or client.case_budget())


@pytest.mark.parametrize(
    "answer",
    [
        fail(408, "time-out"),
        fail(409, "conflict"),
        fail(429, "slow down"),
        fail(500, "broken"),
        fail(503, "overloaded"),
        HTML,
        GARBAGE,
        DROP,
        Answer(b""),
        Answer(b'{"choices": []}'),
        Answer(b'{"error": {"message": "upstream is down", "code": 502}}'),
        Answer(b'"no object"'),
        Answer(b"\xff\xfe"),
    ],
    ids=lambda answer: f"{answer.status} {answer.pace} {answer.body[:12]!r}",
)
async def test_what_may_pass_is_tried_again(clients: Clients, server: LlmServer, answer: Answer) -> None:
    server.script(answer, say("20 degrees"))
    reply = await _complete(clients())
    assert reply.content == "20 degrees"
    assert len(clients.waits) == 1


@pytest.mark.parametrize("status", [401, 402, 403, 404, 405, 413, 418])
async def test_what_will_not_pass_is_not_tried_again(clients: Clients, server: LlmServer, status: int) -> None:
    server.script(fail(status, "no"))
    with pytest.raises(LlmError, match=f"the server answered {status}: no"):
        await _complete(clients())
    assert len(server.requests) == 1


async def test_a_redirect_is_not_followed(clients: Clients, server: LlmServer) -> None:
    """Another server would get to see what the memory holds."""
    with llm_server() as other:
        server.script(Answer(status=307, headers={"Location": f"{other.url}/chat/completions"}))
        with pytest.raises(LlmError, match="the server answered 307"):
            await _complete(clients())
        assert other.requests == []


async def test_an_empty_account_is_not_tried_again(clients: Clients, server: LlmServer) -> None:
    server.script(fail(429, "You exceeded your current quota", "insufficient_quota"))
    with pytest.raises(LlmError, match="You exceeded your current quota"):
        await _complete(clients())
    assert len(server.requests) == 1


async def test_attempts_are_bounded_and_waits_grow(clients: Clients, server: LlmServer) -> None:
    server.script(fail(500, "broken"), repeat=True)
    with pytest.raises(LlmError, match="broken"):
        await _complete(clients(retries=4, backoff=1.0))
    assert len(server.requests) == 5
    assert all(2**n / 2 <= wait <= 2**n for n, wait in enumerate(clients.waits))
    assert len(clients.waits) == 4


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"retry_after": "3"}, 3.0, 3.0),
        ({"retry_after": "0.25"}, 0.25, 0.25),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5, 1.5),
        ({"retry_after": "soon"}, 0.0, 0.001),
        ({"retry_after": "nan"}, 0.0, 0.001),
        ({"retry_after": "-5"}, 0.0, 0.001),
    ],
)
async def test_retry_after_is_honoured(
    clients: Clients, server: LlmServer, headers: dict[str, str], least: float, most: float
) -> None:
    server.script(fail(429, "slow down", None, **headers), say("20 degrees"))
    await _complete(clients())
    assert least <= clients.waits[0] <= most


@pytest.mark.parametrize(("ahead", "least", "most"), [(200, 100.0, 200.0), (-200, 0.0, 0.001)])
async def test_retry_after_may_be_a_date(
    clients: Clients, server: LlmServer, ahead: int, least: float, most: float
) -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=ahead))
    server.script(fail(429, "slow down", None, retry_after=when), say("20 degrees"))
    await _complete(clients())
    assert least <= clients.waits[0] <= most


async def test_a_server_that_asks_to_wait_for_hours_is_given_up(clients: Clients, server: LlmServer) -> None:
    server.script(fail(429, "slow down", retry_after="7200"))
    with pytest.raises(LlmError, match="slow down; it asks to wait 7,200 s"):
        await _complete(clients(max_seconds=None))
    assert clients.waits == []


@pytest.mark.parametrize("answer", [HANG, DRIP], ids=["hang", "drip"])
async def test_a_time_out_holds_for_the_whole_answer(clients: Clients, server: LlmServer, answer: Answer) -> None:
    """A server that sends a byte now and then keeps every single read within its time."""
    server.script(answer, repeat=True)
    client = clients(timeout=0.2, retries=0)
    budget = client.case_budget()
    with pytest.raises(LlmError, match=r"the server did not answer within 0\.2 s"):
        await _complete(client, budget)
    assert budget.spent.calls == 1


async def test_what_was_not_answered_may_have_been_charged_for(clients: Clients, server: LlmServer) -> None:
    server.script(HANG)
    client = clients()
    budget = client.case_budget()
    task = asyncio.create_task(_complete(client, budget))
    assert await asyncio.to_thread(server.hanging.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert budget.spent == client.estimate(_talk())


async def test_what_the_server_refused_costs_nothing(clients: Clients, server: LlmServer) -> None:
    server.script(fail(500), fail(429), say("20 degrees", usage=(30, 5)))
    client = clients()
    budget = client.case_budget()
    await _complete(client, budget)
    assert budget.spent == Usage(30, 5, 3, 80 / 1e6)


async def test_a_server_that_is_not_there(clients: Clients) -> None:
    client = clients(base_url="http://127.0.0.1:9/v1")
    budget = client.case_budget()
    with pytest.raises(LlmError, match=r"the server can't be reached \(ConnectError\)"):
        await _complete(client, budget)
    assert budget.spent == Usage(calls=3)


async def test_requests_at_a_time_are_bounded(clients: Clients, server: LlmServer) -> None:
    server.script(say("20 degrees"), repeat=True)
    client = clients(concurrency=3)
    await asyncio.gather(*[_complete(client) for _ in range(12)])
    assert server.peak <= 3


async def test_waiting_for_a_turn_counts_as_time(clients: Clients, server: LlmServer) -> None:
    server.script(HANG)
    client = clients(concurrency=1)
    first = asyncio.create_task(_complete(client))
    assert await asyncio.to_thread(server.hanging.wait, 30)
    with pytest.raises(BudgetError, match="seconds are spent"):
        await _complete(client, LlmBudget(Limits(seconds=0.05)))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert len(server.requests) == 1


async def test_nothing_is_sent_that_could_overrun(clients: Clients, server: LlmServer) -> None:
    with pytest.raises(BudgetError, match="0 of 1,000 tokens"):
        await _complete(clients(max_tokens=1_000))
    assert server.requests == []


async def test_the_estimate_is_no_less_than_the_bytes(clients: Clients, server: LlmServer) -> None:
    """No tokenizer makes more tokens than bytes, so a budget below that could be overrun."""
    text = "日本語" * 1_000
    client = clients(output_tokens=100, max_tokens=None)
    with pytest.raises(BudgetError):
        await client.complete(Conversation("system", text), LlmBudget(Limits(tokens=9_000)))
    assert server.requests == []


async def test_a_longer_conversation_is_estimated_by_what_was_counted(clients: Clients, server: LlmServer) -> None:
    client = clients(output_tokens=100, max_tokens=None)
    conversation = Conversation("system", "word " * 10_000)
    server.script(say("yes", usage=(10_050, 1)), say("no", usage=(10_090, 1)))
    first = client.estimate(conversation)
    assert first.input_tokens > 50_000
    conversation.add((await client.complete(conversation, client.case_budget())).message())
    conversation.say("Sure?")
    assert 10_050 < client.estimate(conversation).input_tokens < 10_300
    await client.complete(conversation, client.case_budget())


async def test_a_server_that_counts_more_is_remembered(clients: Clients, server: LlmServer) -> None:
    client = clients(output_tokens=100)
    before = client.estimate(_talk())
    server.script(say("yes", usage=(before.input_tokens * 3, 100)))
    await _complete(client)
    assert client.estimate(_talk()).input_tokens == before.input_tokens * 3


async def test_without_numbers_the_estimate_is_charged(clients: Clients, server: LlmServer) -> None:
    client = clients(output_tokens=100)
    budget = client.case_budget()
    server.script(say("yes", usage=None))
    estimate = client.estimate(_talk())
    await _complete(client, budget)
    assert budget.spent == estimate


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ENDLESS, "longer than 16 MiB"),
        (replace(ENDLESS, status=500), "longer than 16 MiB"),
        (Answer(gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}), "compressed"),
    ],
    ids=["endless", "endless error", "compressed"],
)
async def test_an_answer_is_read_only_up_to_a_limit(
    clients: Clients, server: LlmServer, answer: Answer, said: str
) -> None:
    """An endless answer filled the memory. It is not asked for again: the next one would be as long."""
    server.script(answer)
    client = clients(retries=3)
    tracemalloc.start()
    try:
        with pytest.raises(LlmError, match=said) as caught:
            await _complete(client)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert caught.value.kind is Problem.UNREADABLE
    assert peak < 64 << 20
    assert len(server.requests) == 1
