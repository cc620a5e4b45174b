"""What a server and a model understand is found out once, and remembered for later runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from attribution.llm.agent.agent import Agent
from attribution.llm.transport.abilities import Abilities, key_of, packed, unpacked
from attribution.llm.transport.cache import FileCache
from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.dialect import NEWER_LIMIT, Dialect, Format
from schema.kinds import ErrorType
from tests.attribution.llm.caches import MemoryCache
from tests.attribution.llm.conftest import Clients
from tests.attribution.llm.story import Story
from tests.llm_server import Answer, LlmServer, Request, call, fail, give, say


class Weather(BaseModel):
    """What is asked for."""

    city: str


async def _as_it_is(weather: Weather) -> Weather:
    return weather


def _talk() -> Conversation:
    return Conversation("You are asked.", "Where is it warm?")


def _old(request: Request) -> Answer:
    """A server that knows neither temperatures nor schemas."""
    if "temperature" in request.body:
        return fail(400, "Unsupported parameter: 'temperature'")
    if "response_format" in request.body:
        return fail(400, "response_format is unavailable")
    return give({"city": "Leeds"})


async def test_refusals_are_remembered_for_the_server_and_the_model(
    clients: Clients, server: LlmServer, tmp_path: Path
) -> None:
    server.script(_old, repeat=True)
    first, same, other = (clients(FileCache(tmp_path), model=model) for model in ("one", "one", "two"))
    counts = []
    for client, question in ((first, "Where?"), (same, "Where else?"), (other, "Where?")):
        talk = Conversation("You are asked.", question)
        before = len(server.requests)
        await client.structured(talk, Weather, client.case_budget(), _as_it_is)
        counts.append(len(server.requests) - before)
    assert counts == [4, 1, 4]


async def test_a_schema_that_is_ignored_without_a_word_is_written_into_the_prompt(
    clients: Clients, server: LlmServer
) -> None:
    cache = MemoryCache()
    server.script(say("It is warm in Leeds."), give({"city": "Leeds"}), give({"city": "York"}))
    client = clients(cache)
    found = await client.structured(_talk(), Weather, client.case_budget(), _as_it_is)
    assert found == Weather(city="Leeds")
    assert '"required":["city"]' in server.requests[1].messages[0]["content"]
    later = clients(cache)
    await later.structured(Conversation("You are asked.", "Now?"), Weather, later.case_budget(), _as_it_is)
    assert '"required":["city"]' in server.requests[2].messages[0]["content"]


async def test_a_reply_of_another_form_or_an_empty_one_says_nothing_about_schemas(
    clients: Clients, server: LlmServer
) -> None:
    server.script(give({"town": "Leeds"}), give({"city": "Leeds"}), say(""), give({"city": "Leeds"}))
    client = clients()
    for _ in range(2):
        await client.structured(_talk(), Weather, client.case_budget(), _as_it_is)
    assert (await client.abilities()).dialect.format is Format.SCHEMA


async def test_a_model_that_calls_no_tool_is_asked_by_schema_in_later_runs(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    cache = MemoryCache()
    step = {"name": "propose_verdict", "arguments": story.proposal()}
    server.script(say("I would look at the notes."), give(step))
    first = await Agent(clients(cache)).attribute(story.graph, story.failure, story.evidence)
    assert first.error_type is ErrorType.UPDATE
    assert server.requests[0].tools
    server.script(give(step))
    again = await Agent(clients(cache)).attribute(story.graph, story.failure, story.evidence)
    assert again.error_type is ErrorType.UPDATE
    asked = server.requests[2]
    assert not asked.tools
    assert asked.body["response_format"]["type"] == "json_schema"
    assert [one["role"] for one in asked.messages] == ["system", "user"]
    assert "propose_verdict" in asked.last


async def test_a_model_that_has_called_a_tool_keeps_its_tools(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    cache = MemoryCache()
    step = {"name": "propose_verdict", "arguments": story.proposal()}
    server.script(call(("search", {"words": "Leeds"})), say("Hm."), give(step))
    await Agent(clients(cache)).attribute(story.graph, story.failure, story.evidence)
    assert (await clients(cache).abilities()).calls_tools


@pytest.mark.parametrize(
    "abilities", [Abilities(), Abilities(Dialect(NEWER_LIMIT, temperature=False, format=Format.TEXT), False)]
)
def test_abilities_survive_a_cache(abilities: Abilities) -> None:
    assert unpacked(packed(abilities)) == abilities


def test_a_form_of_another_version_is_forgotten() -> None:
    assert unpacked(b'{"schema": true}') == unpacked(b"\xff") == Abilities()
    assert key_of("http://host/v1", "m") == key_of("http://host/v1/", "m") != key_of("http://host/v1", "n")
