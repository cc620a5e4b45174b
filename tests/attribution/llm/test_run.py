"""Whole runs with a model: a killed one goes on without paying twice, and one case never sinks another."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from attribution.run import AttributedFailure, Options, attribute
from attribution.verdicts.verdict import Method
from schema.kinds import ErrorType
from tests.attribution.llm.conftest import KEY, Clients
from tests.attribution.llm.judging import judging
from tests.attribution.llm.story import Story
from tests.llm_server import HANG, Answer, LlmServer, Request, call, fail, give, refuse, say


async def _run(story: Story, options: Options) -> list[AttributedFailure]:
    return [outcome async for outcome in attribute(story.graph.store, story.failures, options)]


def _options(clients: Clients, folder: Path, method: Method = Method.LLM, **settings: Any) -> Options:
    return Options(method=method, llm=clients.settings(**settings), replies=folder, concurrency=1)


def _second(request: Request) -> bool:
    """Whether a request is about the second failure."""
    return '"question":"Who is Mara?"' in request.messages[1]["content"]


async def test_a_killed_run_goes_on_without_paying_twice(
    clients: Clients, server: LlmServer, story: Story, tmp_path: Path
) -> None:
    look = call(("search", {"words": "Leeds"}))
    tell = call(("propose_verdict", story.proposal()))
    options = _options(clients, tmp_path)
    server.script(look, tell, look, HANG)
    killed = asyncio.create_task(_run(story, options))
    assert await asyncio.to_thread(server.hanging.wait, 30)
    killed.cancel()
    with pytest.raises(asyncio.CancelledError):
        await killed
    server.script(tell)
    outcomes = await _run(story, options)
    assert len(server.requests) == 5
    assert [outcome.cached for outcome in outcomes] == [True, False]
    assert [outcome.attribution.error_type for outcome in outcomes] == [ErrorType.UPDATE] * 2
    assert [outcome.attribution.tokens for outcome in outcomes] == [240, 240]
    assert all(outcome.cached for outcome in await _run(story, options))
    assert len(server.requests) == 5


@pytest.mark.parametrize("method", [Method.LLM, Method.ONESHOT])
@pytest.mark.parametrize("answer", [fail(401, KEY), refuse("no"), Answer(b"{}")], ids=["401", "refusal", "garbage"])
async def test_a_case_that_fails_does_not_sink_the_others(
    clients: Clients, server: LlmServer, story: Story, tmp_path: Path, method: Method, answer: Answer
) -> None:
    def script(request: Request) -> Answer:
        if not _second(request):
            return answer
        return call(("propose_verdict", story.proposal())) if method is Method.LLM else give(story.proposal())

    server.script(script, repeat=True)
    first, second = await _run(story, _options(clients, tmp_path, method))
    assert first.attribution.error_type is None
    assert first.attribution.reason
    assert second.attribution.error_type is ErrorType.UPDATE
    stored = await story.graph.store.attributions([failure.id for failure in story.failures])
    assert {one.id for one in stored} == {first.attribution.id, second.attribution.id}
    assert KEY not in repr(stored)


async def test_an_abstention_of_the_server_is_tried_again(
    clients: Clients, server: LlmServer, story: Story, tmp_path: Path
) -> None:
    options = _options(clients, tmp_path)
    server.script(fail(401, "no"), repeat=True)
    assert {outcome.attribution.error_type for outcome in await _run(story, options)} == {None}
    server.script(call(("propose_verdict", story.proposal())), repeat=True)
    assert {outcome.attribution.error_type for outcome in await _run(story, options)} == {ErrorType.UPDATE}


async def test_auto_asks_the_model_within_one_budget(
    clients: Clients, server: LlmServer, story: Story, tmp_path: Path
) -> None:
    judge = judging(lambda kind, data: say("I can't tell."))

    def script(request: Request) -> Answer:
        return call(("propose_verdict", story.proposal())) if "tools" in request.body else judge(request)

    server.script(script, repeat=True)
    outcomes = await _run(story, _options(clients, tmp_path, Method.AUTO))
    for outcome in outcomes:
        assert outcome.attribution.error_type is not None
        assert (outcome.attribution.tokens or 0) <= 400_000
    asked = [outcome for outcome in outcomes if outcome.attribution.model]
    assert bool(asked) == bool(server.requests)
