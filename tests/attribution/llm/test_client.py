"""The client: attempts, dialects of servers, replies in a given form, replies that are kept."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from attribution.llm.budget import Budget, Limits
from attribution.llm.cache import FileCache, MemoryCache
from attribution.llm.client import LlmClient
from attribution.llm.conversation import Conversation
from attribution.llm.errors import BudgetError, LlmError, Problem
from attribution.llm.reply import Reply
from attribution.llm.schemas import Rejected
from attribution.verdict import Usage
from tests.attribution.llm.conftest import KEY, Clients
from tests.llm_server import (
    DRIP,
    DROP,
    GARBAGE,
    HANG,
    Answer,
    LlmServer,
    Request,
    call,
    fail,
    give,
    llm_server,
    refuse,
    say,
)

HTML = Answer(b"<html><body>Bad gateway</body></html>", 502)


class Weather(BaseModel):
    """What is asked for."""

    city: str
    degrees: int


def _talk() -> Conversation:
    return Conversation("You are asked.", "How warm is it?")


async def _complete(client: LlmClient, budget: Budget | None = None) -> Reply:
    return await client.complete(_talk(), budget or client.case_budget())


async def _accept(weather: Weather) -> Weather:
    if weather.degrees > 60:
        raise Rejected("degrees: it is never that warm")
    return weather


async def _structured(client: LlmClient) -> Weather:
    return await client.structured(_talk(), Weather, client.case_budget(), _accept)


# Attempts


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
        ({"retry_after": format_datetime(datetime.now(UTC) + timedelta(seconds=200))}, 100.0, 200.0),
        ({"retry_after": format_datetime(datetime.now(UTC) - timedelta(seconds=200))}, 0.0, 0.001),
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
        await _complete(client, Budget(Limits(seconds=0.05)))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert len(server.requests) == 1


# Budgets


async def test_nothing_is_sent_that_could_overrun(clients: Clients, server: LlmServer) -> None:
    with pytest.raises(BudgetError, match="0 of 1,000 tokens"):
        await _complete(clients(max_tokens=1_000))
    assert server.requests == []


async def test_the_estimate_is_no_less_than_the_bytes(clients: Clients, server: LlmServer) -> None:
    """No tokenizer makes more tokens than bytes, so a budget below that could be overrun."""
    text = "日本語" * 1_000
    client = clients(output_tokens=100, max_tokens=None)
    with pytest.raises(BudgetError):
        await client.complete(Conversation("system", text), Budget(Limits(tokens=9_000)))
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


# Dialects


def _strict(*known: str) -> Any:
    """A server that refuses what it does not know."""

    def answer(request: Request) -> Answer:
        for name in ("temperature", "max_tokens"):
            if name in request.body and name not in known:
                return fail(400, f"Unsupported parameter: '{name}' is not supported with this model.")
        form = request.body.get("response_format", {"type": "text"})["type"]
        if form not in (*known, "text"):
            return fail(400, f"response_format {form} is unavailable")
        return give({"city": "Leeds", "degrees": 20})

    return answer


@pytest.mark.parametrize(
    ("known", "asked_first", "asked_later"),
    [
        (("temperature", "max_tokens", "json_schema"), 1, 1),
        (("json_schema",), 3, 1),
        (("temperature", "max_tokens", "json_object"), 2, 1),
        (("temperature", "max_tokens"), 3, 1),
        ((), 5, 1),
    ],
)
async def test_finds_out_what_a_server_understands(
    clients: Clients, server: LlmServer, known: tuple[str, ...], asked_first: int, asked_later: int
) -> None:
    server.script(_strict(*known), repeat=True)
    client = clients(retries=0)
    assert await _structured(client) == Weather(city="Leeds", degrees=20)
    assert len(server.requests) == asked_first
    await _structured(client)
    assert len(server.requests) == asked_first + asked_later
    body = server.requests[-1].body
    assert ("max_tokens" in body) != ("max_completion_tokens" in body)
    if "json_schema" not in known:
        assert '"required":["city","degrees"]' in body["messages"][0]["content"]


async def test_calls_side_by_side_find_it_out_once_for_all(clients: Clients, server: LlmServer) -> None:
    server.script(_strict("max_tokens"), repeat=True)
    client = clients(retries=0)
    await asyncio.gather(*[_structured(client) for _ in range(6)])
    before = len(server.requests)
    await _structured(client)
    assert len(server.requests) == before + 1


async def test_a_request_that_no_form_helps_changes_nothing(clients: Clients, server: LlmServer) -> None:
    server.script(*[fail(400, "no")] * 3, give({"city": "Leeds", "degrees": 20}))
    client = clients()
    with pytest.raises(LlmError) as caught:
        await _structured(client)
    assert caught.value.kind is Problem.UNSUPPORTED
    await _structured(client)
    assert server.requests[-1].body["response_format"]["type"] == "json_schema"


async def test_schemas_are_closed_and_whole(clients: Clients, server: LlmServer) -> None:
    server.script(give({"city": "Leeds", "degrees": 20}))
    await _structured(clients())
    sent = server.requests[0].body["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"] == {
        "type": "object",
        "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}},
        "required": ["city", "degrees"],
        "additionalProperties": False,
    }


# Replies in a given form


@pytest.mark.parametrize(
    "text",
    [
        '{"city": "Leeds", "degrees": 20}',
        '```json\n{"city": "Leeds", "degrees": 20}\n```',
        'Here it is:\n```\n{"city": "Leeds", "degrees": 20}\n``` Enjoy.',
        '<think>{"city": "York"}</think>\n{"city": "Leeds", "degrees": 20}',
        'The answer is {"city": "Leeds", "degrees": 20}.',
    ],
)
async def test_json_is_found_in_what_is_around_it(clients: Clients, server: LlmServer, text: str) -> None:
    server.script(say(text))
    assert await _structured(clients()) == Weather(city="Leeds", degrees=20)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("It is warm.", "Invalid JSON"),
        ('{"city": "Leeds"}', "degrees: Field required"),
        ('{"city": "Leeds", "degrees": "twenty"}', "degrees: Input should be a valid integer"),
        ('{"city": "Leeds", "degrees": 99}', "degrees: it is never that warm"),
        ("", "Invalid JSON"),
    ],
)
async def test_what_is_wrong_is_told_once(clients: Clients, server: LlmServer, wrong: str, problem: str) -> None:
    server.script(say(wrong), give({"city": "Leeds", "degrees": 20}))
    assert await _structured(clients()) == Weather(city="Leeds", degrees=20)
    assert problem in server.requests[1].last
    assert server.requests[1].messages[-2] == {"role": "assistant", "content": wrong}


async def test_what_stays_wrong_is_an_error(clients: Clients, server: LlmServer) -> None:
    server.script(say("warm"), say("hot"))
    with pytest.raises(LlmError) as caught:
        await _structured(clients())
    assert caught.value.kind is Problem.INVALID
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refuse("no"), Problem.REFUSED),
        (fail(400, "blocked", "content_filter"), Problem.REFUSED),
        (say('{"city"', finish="length"), Problem.LENGTH),
    ],
)
async def test_refusals_and_cuts_are_not_repaired(
    clients: Clients, server: LlmServer, answer: Answer, kind: Problem
) -> None:
    server.script(answer)
    with pytest.raises(LlmError) as caught:
        await _structured(clients())
    assert caught.value.kind is kind
    assert len(server.requests) == 1


async def test_lenient_with_what_servers_leave_out(clients: Clients, server: LlmServer) -> None:
    parts = [{"type": "text", "text": "20 "}, {"type": "text", "text": "degrees"}]
    server.script(Answer(json.dumps({"choices": [{"message": {"content": parts}}]}).encode()))
    assert (await _complete(clients())).content == "20 degrees"


async def test_arguments_may_be_an_object_and_calls_have_no_id(clients: Clients, server: LlmServer) -> None:
    calls = [{"function": {"name": "look", "arguments": {"at": 1}}}, {"function": {"name": "look"}}]
    server.script(Answer(json.dumps({"choices": [{"message": {"tool_calls": calls}}]}).encode()))
    reply = await _complete(clients())
    assert [(one.id, one.arguments) for one in reply.calls] == [("call-0", {"at": 1}), ("call-1", {})]


async def test_half_a_surrogate_pair_is_no_text(clients: Clients, server: LlmServer) -> None:
    server.script(call(("look", '{"at": "\\ud800"}')))
    reply = await _complete(clients())
    assert reply.calls[0].arguments is None


# Replies that are kept


def _damage(folder: Path) -> None:
    (file,) = [path for path in folder.rglob("*") if path.is_file()]
    assert file.stat().st_mode & 0o077 == 0
    file.write_bytes(file.read_bytes()[:-3])


@pytest.mark.parametrize("kind", ["memory", "files"])
async def test_a_reply_is_paid_for_once(clients: Clients, server: LlmServer, tmp_path: Path, kind: str) -> None:
    cache = MemoryCache() if kind == "memory" else FileCache(tmp_path / "replies")
    server.script(say("20 degrees", usage=(30, 5)))
    first, again = clients(cache), clients(cache if kind == "memory" else FileCache(tmp_path / "replies"))
    budget = again.case_budget()
    assert await _complete(first) == await _complete(again, budget)
    assert len(server.requests) == 1
    assert budget.spent == Usage(30, 5, 1, 80 / 1e6)
    assert again.run_budget.spent == Usage()


@pytest.mark.parametrize("change", [{"model": "another"}, {"temperature": 1.0}, {"output_tokens": 7}])
async def test_another_question_is_asked_again(clients: Clients, server: LlmServer, change: dict[str, Any]) -> None:
    cache = MemoryCache()
    server.script(say("20"), say("30"))
    await _complete(clients(cache))
    assert (await _complete(clients(cache, **change))).content == "30"


async def test_refusals_are_not_kept(clients: Clients, server: LlmServer) -> None:
    client = clients(MemoryCache())
    server.script(refuse("no"), say("20 degrees"))
    with pytest.raises(LlmError):
        await _complete(client)
    assert (await _complete(client)).content == "20 degrees"


async def test_a_damaged_file_counts_as_absent(clients: Clients, server: LlmServer, tmp_path: Path) -> None:
    server.script(say("20"), say("30"))
    await _complete(clients(FileCache(tmp_path)))
    _damage(tmp_path)
    assert (await _complete(clients(FileCache(tmp_path)))).content == "30"


async def test_another_servers_variables_are_not_sent(
    clients: Clients, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-key-of-this-user")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-this-user")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-this-user")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    server.script(say("20"), say("30"))
    await _complete(clients())
    await _complete(clients(api_key=None))
    for request in server.requests:
        assert "of-this-user" not in str(request.headers)
    assert [request.headers["Authorization"] for request in server.requests] == [f"Bearer {KEY}", "Bearer none"]
