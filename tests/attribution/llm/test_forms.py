"""Replies in a given form, from servers that understand more or less of the protocol."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pydantic import BaseModel

from attribution.llm.transport.budget import LlmBudget
from attribution.llm.transport.client import LlmClient
from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.errors import LlmError, Problem
from attribution.llm.transport.reply import Reply
from attribution.llm.transport.schemas import Rejected
from tests.attribution.llm.conftest import Clients
from tests.llm_server import (
    Answer,
    LlmServer,
    Request,
    call,
    fail,
    give,
    refuse,
    say,
)


class Weather(BaseModel):
    """What is asked for."""

    city: str
    degrees: int


def _talk() -> Conversation:
    return Conversation("You are asked.", "How warm is it?")


async def _complete(client: LlmClient, budget: LlmBudget | None = None) -> Reply:
    return await client.complete(_talk(), budget or client.case_budget())


async def _accept(weather: Weather) -> Weather:
    if weather.degrees > 60:
        raise Rejected("degrees: it is never that warm")
    return weather


async def _structured(client: LlmClient) -> Weather:
    return await client.structured(_talk(), Weather, client.case_budget(), _accept)


def _strict(*known: str) -> Any:
    """A server that refuses unknown parameters."""

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
        ("", "the reply is empty"),
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


@pytest.mark.parametrize("depth", [101, 900, 20_000])
async def test_deep_arguments_are_none(clients: Clients, server: LlmServer, depth: int) -> None:
    server.script(call(("look", '{"at": ' + "[" * depth + "]" * depth + "}")))
    reply = await _complete(clients())
    assert reply.calls[0].arguments is None
