"""The trial of a model: what works, how fast it is, and clear reasons for what fails."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.dialect import NEWER_LIMIT, Dialect, Format
from attribution.llm.transport.settings import LlmSettings
from attribution.llm.trial.check import ModelCheck, check_model
from attribution.llm.trial.costs import USUAL, costs_of
from attribution.llm.trial.speed import Speed
from attribution.verdicts.verdict import Method
from schema.models import Attribution
from tests.attribution.llm.caches import MemoryCache
from tests.attribution.llm.conftest import KEY, Clients
from tests.llm_server import (
    DROP,
    HANG,
    Answer,
    LlmServer,
    Request,
    call,
    fail,
    give,
    list_models,
    llm_server,
    refuse,
    say,
)

WEATHER = {"city": "Leeds", "degrees": 21}
COUNTED = ", ".join(map(str, range(1, 41)))


class City(BaseModel):
    """What a later run asks for."""

    city: str


def _form(request: Request) -> str:
    if request.tools:
        return "tools"
    if "response_format" in request.body:
        return str(request.body["response_format"]["type"])
    return "text" if "JSON Schema" in str(request.messages[0]["content"]) else "plain"


def _model(**other: Answer | Callable[[Request], Answer]) -> Callable[[Request], Answer]:
    """A model that replies in every form; ``other``: answers to requests of some forms in place of the usual ones."""
    usual: dict[str, Answer] = {
        "tools": call(("look_up", {"words": "grey parrot"})),
        "json_schema": give(WEATHER),
        "json_object": give(WEATHER),
        "text": say(f"Here: ```json\n{json.dumps(WEATHER)}\n```"),
        "plain": say(COUNTED, (30, 90)),
    }

    def answer(request: Request) -> Answer:
        found = (usual | other)[_form(request)]
        return found if isinstance(found, Answer) else found(request)

    return answer


async def _check(clients: Clients, cache: MemoryCache | None = None, **values: Any) -> ModelCheck:
    return await check_model(clients.settings(**values), cache)


def _works(found: ModelCheck) -> dict[str, bool]:
    return {one.form: one.works for one in found.forms}


def _how(found: ModelCheck, form: str) -> str:
    return next(one.how for one in found.forms if one.form == form)


async def test_a_model_that_can_do_all(clients: Clients, server: LlmServer) -> None:
    server.script(_model(), repeat=True)
    server.models = list_models("scripted", "other", max_model_len=128_000)
    found = await _check(clients, max_seconds=None, timeout=1e6)  # no note on a machine that is slow today
    assert _works(found) == {"tools": True, "json_schema": True, "json_object": True, "text": True}
    assert found.is_usable
    assert (found.error, found.notes, found.thinks) == (None, [], False)
    assert found.abilities is not None
    assert (found.abilities.dialect, found.abilities.calls_tools) == (Dialect(), True)
    assert found.speed is not None
    assert found.speed.input > 0
    assert found.spent.calls == len(server.requests) == 6
    assert all(request.body["max_tokens"] <= 1_024 for request in server.requests)


@pytest.mark.parametrize(
    ("other", "works", "kept"),
    [
        ({"tools": fail(400, "no tools")}, "json_schema json_object text", (Format.SCHEMA, False)),
        ({"json_schema": fail(400, "no schema")}, "tools json_object text", (Format.OBJECT, True)),
        ({"json_schema": say("21 degrees")}, "tools json_object text", (Format.OBJECT, True)),
        (
            {"json_schema": fail(422, "no"), "json_object": give({"town": "Leeds"}), "tools": say("I will.")},
            "text",
            (Format.TEXT, False),
        ),
        ({"tools": say('{"name": "look_up", "arguments": {"words": "grey parrot"}}')},
         "tools json_schema json_object text", (Format.SCHEMA, True)),
    ],
)  # fmt: skip
async def test_what_works_is_remembered(
    clients: Clients, server: LlmServer, other: dict[str, Answer], works: str, kept: tuple[Format, bool]
) -> None:
    cache = MemoryCache()
    server.script(_model(**other), repeat=True)
    found = await _check(clients, cache)
    assert " ".join(form for form, is_fine in _works(found).items() if is_fine) == works
    later = clients(cache)
    known = await later.abilities()
    assert (known.dialect.format, known.calls_tools) == kept


async def test_a_later_trial_finds_out_that_more_works(clients: Clients, server: LlmServer) -> None:
    cache = MemoryCache()
    server.script(_model(json_schema=fail(400, "no"), tools=fail(400, "no")), repeat=True)
    await _check(clients, cache)
    server.script(_model(), repeat=True)
    await _check(clients, cache)
    client = clients(cache)
    server.script(give({"city": "Leeds"}))
    await client.structured(Conversation("You are asked.", "Where?"), City, client.case_budget(), _as_it_is)
    assert server.requests[-1].body["response_format"]["type"] == "json_schema"
    assert (await client.abilities()).calls_tools


async def _as_it_is(city: City) -> City:
    return city


async def test_parameters_that_the_server_refuses_are_left_out(clients: Clients, server: LlmServer) -> None:
    def strict(request: Request) -> Answer:
        for name in ("temperature", "max_tokens"):
            if name in request.body:
                return fail(400, f"Unsupported parameter: '{name}' is not supported with this model.")
        return _model()(request)

    server.script(strict, repeat=True)
    found = await _check(clients)
    assert found.abilities is not None
    assert found.abilities.dialect == Dialect(NEWER_LIMIT, temperature=False)
    assert all(_works(found).values())


@pytest.mark.parametrize(
    "thoughtful",
    [
        say(f"<think>One, two.</think>{COUNTED}"),
        Answer(json.dumps({"choices": [{"message": {"content": COUNTED, "reasoning_content": "One, two."}}]}).encode()),
    ],
)
async def test_a_model_that_thinks_is_told_of(clients: Clients, server: LlmServer, thoughtful: Answer) -> None:
    server.script(_model(plain=thoughtful), repeat=True)
    found = await _check(clients, output_tokens=2_000)
    assert found.thinks
    assert any("MEMTRACE_LLM_OUTPUT_TOKENS (2,000)" in one for one in found.notes)


@pytest.mark.parametrize(
    ("answer", "how"),
    [
        (say(""), "the reply is empty"),
        (say("<think>Leeds it is.</think>"), "the reply has only thoughts"),
        (say("", finish="length"), "used all 1,024 tokens of a reply for thoughts"),
        (say("<think>Is it Leeds", finish="length"), "still thinking when its reply was cut off"),
        (say("over and " * 300, finish="length"), "repeats the same words without an end"),
        (say('{"city": "Lee', finish="length"), "longer than 1,024 tokens and was cut"),
        (refuse("no cities"), "refused to answer: no cities"),
        (give({"city": "Leeds"}), "degrees: Field required"),
    ],
)
async def test_reasons_of_what_does_not_work(clients: Clients, server: LlmServer, answer: Answer, how: str) -> None:
    server.script(_model(json_schema=answer, tools=answer), repeat=True)
    found = await _check(clients)
    assert how in _how(found, "json_schema")
    assert _works(found) == {"tools": False, "json_schema": False, "json_object": True, "text": True}
    assert found.error is None


@pytest.mark.parametrize(
    ("answer", "how"),
    [
        (call(("look_up", {"words": "grey parrot"})), "as asked"),
        (call(("search", {"words": "grey parrot"}), ("look_up", {"words": "grey parrot"})), "as asked"),
        (say('{"name": "look_up", "arguments": {"words": "grey parrot"}}'), "wrote its call as text"),
        (call(("look_up", {})), "called 'look_up' without the arguments that were asked for"),
        (call(("search", {"words": "grey parrot"})), "called 'search' without the arguments that were asked for"),
        (call(("look_up", {}), ("search", {"words": "x"})), "called 'look_up' without the arguments"),
        (say('{"name": "look_up", "arguments": {}}'), "called 'look_up' without the arguments"),
        (say("I will look it up."), "the model called no tool; its reply begins 'I will look it up.'"),
        (say("<think>Which?</think> I will."), "the model called no tool; its reply begins 'I will.'"),
    ],
)
async def test_a_call_needs_the_tool_and_its_arguments(
    clients: Clients, server: LlmServer, answer: Answer, how: str
) -> None:
    server.script(_model(tools=answer), repeat=True)
    found = await _check(clients)
    assert how in _how(found, "tools")
    assert _works(found)["tools"] is not how.startswith(("called", "the model"))
    assert found.abilities is not None
    assert found.abilities.calls_tools is _works(found)["tools"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (fail(401, "bad key"), "the server answered 401: bad key. The server does not accept the key"),
        (fail(402, "pay"), "The account has no money left."),
        (fail(404, "no such model"), "MEMTRACE_LLM_MODEL is 'scripted', which the server does not list. It lists a, b"),
        (fail(429, "slow down"), "429: slow down. It allows fewer requests than it gets"),
        (HANG, "did not answer within 0.3 s. The model is slow"),
        (DROP, "Is a server running at"),
        (Answer(b"<html>Welcome</html>"), "speak OpenAI's chat completions?"),
    ],
)
async def test_what_ends_a_trial_is_explained(clients: Clients, server: LlmServer, answer: Answer, reason: str) -> None:
    if "MODEL" in reason:
        server.models = list_models("a", "b")
    server.script(answer, repeat=True)
    cache = MemoryCache()
    found = await _check(clients, cache, timeout=0.3)
    assert found.error is not None
    assert reason in found.error
    assert not found.is_usable
    assert len(server.requests) <= 2
    assert await clients(cache).abilities() == await clients().abilities()


async def test_no_server_and_no_key(server: LlmServer) -> None:
    server.script(fail(401, "who are you?"), repeat=True)
    found = await check_model(LlmSettings.load(base_url=server.url, model="m", retries=0), None)
    assert "set MEMTRACE_LLM_API_KEY or" in str(found.error)
    with llm_server() as gone:
        url = gone.url
    found = await check_model(LlmSettings.load(base_url=url, model="m", retries=0), None)
    assert "can't be reached" in str(found.error)


async def test_an_address_without_its_version(clients: Clients, server: LlmServer) -> None:
    server.script(fail(404, "no page"), repeat=True)
    found = await _check(clients, base_url=server.url.removesuffix("/v1"))
    assert "Most servers want /v1 at the end." in str(found.error)


async def test_the_key_is_never_shown(clients: Clients, server: LlmServer) -> None:
    server.script(fail(401, f"{KEY} is unknown"), repeat=True)
    found = await _check(clients)
    assert KEY not in str(found)
    server.script(_model(tools=say(f"I know {KEY}.")), repeat=True)
    assert KEY not in str(await _check(clients))


async def test_what_should_be_set_otherwise(clients: Clients, server: LlmServer) -> None:
    server.script(_model(), repeat=True)
    server.models = list_models("llama.gguf", meta={"n_ctx": 8_192})
    notes = " ".join((await _check(clients)).notes)
    assert "does not list the model 'scripted'. It lists llama.gguf." in notes
    assert "set MEMTRACE_LLM_CONTEXT_TOKENS=8192 (now 128,000)" in notes


async def test_a_slow_model_is_told_of(clients: Clients, server: LlmServer) -> None:
    def slowly(request: Request) -> Answer:
        time.sleep(0.05)
        return say(COUNTED, (1, 5))

    server.script(slowly, repeat=True)
    found = await _check(clients, max_seconds=600, output_tokens=32_000, timeout=20)
    assert found.speed is not None
    assert found.speed.input <= 20 * 10  # reading is never taken for less than a tenth of the time
    notes = " ".join(found.notes)
    assert "A reply of 32,000 tokens would take" in notes
    assert "MEMTRACE_LLM_MAX_SECONDS" in notes


async def test_a_failure_after_the_first_reply_keeps_what_is_known(clients: Clients, server: LlmServer) -> None:
    server.script(_model(json_object=fail(429, "slow down")), repeat=True)
    found = await _check(clients)
    assert "slow down" in str(found.error)
    assert found.abilities is None


def _verdict(model: str | None, method: str, tokens: int, seconds: float) -> Attribution:
    return Attribution(
        id="i",
        project_id="p",
        trace_id="t",
        failure_id="f",
        error_type=None,
        operation_id=None,
        confidence=None,
        method=method,
        model=model,
        reason=None,
        evidence="[]",
        candidates="[]",
        tokens=tokens,
        cost=0.5,
        seconds=seconds,
        created_at=None,
        author=None,
    )


def test_costs_are_those_of_own_verdicts_or_estimated(clients: Clients) -> None:
    settings = clients.settings()
    verdicts = [_verdict("scripted", "llm", tokens, tokens / 10) for tokens in (10, 30, 90)]
    verdicts += [_verdict("another", "oneshot", 5, 1.0), _verdict(None, "flow", 0, 0.1)]
    found = {one.method: one for one in costs_of(settings, Speed(100.0, 10.0), verdicts)}
    assert set(found) == set(USUAL) & set(Method)
    measured = found[Method.LLM]
    assert (measured.tokens, measured.seconds, measured.cost, measured.verdicts) == (30, 3.0, 0.5, 3)
    usual, estimated = USUAL[Method.ONESHOT], found[Method.ONESHOT]
    assert estimated.tokens == usual.input_tokens + usual.output_tokens
    assert estimated.seconds == usual.input_tokens / 100 + usual.output_tokens / 10
    assert estimated.cost == (usual.input_tokens * 1.0 + usual.output_tokens * 10.0) / 1e6
    assert estimated.verdicts == 0


def test_a_prompt_is_not_longer_than_the_context(clients: Clients) -> None:
    settings = clients.settings(context_tokens=8_000, output_tokens=1_000)
    found = {one.method: one.tokens for one in costs_of(settings, None, [])}
    assert found[Method.ONESHOT] == 7_000 + USUAL[Method.ONESHOT].output_tokens


def test_what_is_unknown_is_left_open(clients: Clients) -> None:
    settings = clients.settings(input_price=None, output_price=None)
    assert {(one.seconds, one.cost) for one in costs_of(settings, None, [])} == {(None, None)}


async def test_a_trial_stays_within_the_budget_of_a_run(clients: Clients, server: LlmServer) -> None:
    server.script(_model(), repeat=True)
    found = await _check(clients, run_max_tokens=2_000)
    assert "the budget of the run allows no further call" in str(found.error)
    assert found.spent.input_tokens + found.spent.output_tokens <= 2_000
