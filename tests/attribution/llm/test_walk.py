"""The walk: sure verdicts stay, judgements change the odds, and what can't be had leaves the free pass's verdict."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from attribution.free_pass.flow import FlowPass
from attribution.free_pass.proof_path import problems
from attribution.free_pass.rules import Finding
from attribution.free_pass.trial import SURE
from attribution.llm.walk.asking import DROPPED, HOLDS, SAME, SUPPORTS, Allowance, Asker
from attribution.llm.walk.reliability import Counts, Reliability
from attribution.llm.walk.walk import ModelEyes, Walker
from attribution.run import Options, attribute
from attribution.trace.graph import TraceGraph
from attribution.verdicts.verdict import Method, Verdict
from schema.kinds import ErrorType
from schema.models import Failure
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.llm.caches import MemoryCache
from tests.attribution.llm.conftest import Clients
from tests.attribution.llm.judging import data_of, judging, kind_of, knowing, right_reply
from tests.llm_server import LlmServer, Request, call, fail, say

SAID = "We met at the harbour festival in spring."
OTHERS = ("Work was busy, the crane broke down twice.", "My sister bakes rye bread on Sundays.")
QUESTION, GOLD = "Where did Dana meet Leo?", "At the harbour festival"
UNIT = "Dana met Leo at a festival by the sea."


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('walk') / 'walk.db'}") as opened:
        yield opened


async def _told(embedded: Database, unit: str = UNIT, answer: str = "At a party.") -> tuple[TraceGraph, Failure]:
    """A unit says in other words what the answer needed; the answer was made from the unit, and is wrong."""
    story = Story.of("walk", SAID, *OTHERS)
    failure = story.ask(QUESTION, GOLD, answer, [story.store(0, unit)])
    store = embedded.project("walk")
    await story.trace.write(store)
    return await TraceGraph.load(store, story.trace.trace.id), failure


async def _walked(clients: Clients, graph: TraceGraph, failure: Failure, **settings: Any) -> Verdict:
    walker = Walker(clients(MemoryCache(), **{"retries": 0} | settings))
    verdict = await walker.attribute(FlowPass(), graph, failure)
    assert await problems(verdict, graph) == []
    return verdict


def _is_control(request: Request) -> bool:
    return right_reply(kind_of(request) or "", data_of(request)) is not None


def _found(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    """A model that finds the unit, and says that the answer is wrong."""
    if kind == SAME:
        return {"quote": "", "same": False}
    if kind == DROPPED:
        return {"quote": data["steps"][0]["given"], "step": 1}
    assert kind == HOLDS
    number = next(one["number"] for one in data["texts"] if one["text"] == UNIT)
    return {"number": number, "quote": "festival by the sea", "holds": True}


async def test_a_model_that_reads_well_finds_what_words_do_not(
    clients: Clients, server: LlmServer, embedded: Database
) -> None:
    graph, failure = await _told(embedded)
    free = await FlowPass().attribute(graph, failure)
    assert (free.error_type, free.confidence < SURE) == (ErrorType.EXTRACTION, True)
    server.script(judging(_found), repeat=True)
    verdict = await _walked(clients, graph, failure)
    assert verdict.error_type is ErrorType.RESPONSE
    assert verdict.operation_id == graph.variables[failure.answer_id or ""].operation_id
    assert verdict.details["flow"]["errorType"] is ErrorType.EXTRACTION
    (held,) = [one for one in verdict.details["judgements"] if one["asked"] == HOLDS]
    assert (held["text"], held["said"], held["quote"]) == (UNIT, True, "festival by the sea")
    assert any(step.quote == "festival by the sea" for step in verdict.path)
    assert verdict.model == "scripted"
    # Only controls of the kinds that were due; what they took is counted, and said.
    controls = [kind_of(one) for one in server.requests if _is_control(one)]
    assert set(controls) == {one["asked"] for one in verdict.details["judgements"]} == set(verdict.details["controls"])
    assert len(controls) < len(server.requests) == verdict.usage.calls
    assert (verdict.usage.input_tokens, verdict.usage.cost > 0) == (100 * len(server.requests), True)
    assert verdict.details["controlTokens"] == (100 + 20) * len(controls)


async def test_the_same_words_of_a_model_that_guesses_change_nothing(
    clients: Clients, server: LlmServer, embedded: Database
) -> None:
    graph, failure = await _told(embedded)
    free = await FlowPass().attribute(graph, failure)
    server.script(judging(_found, guesses=True), repeat=True)
    verdict = await _walked(clients, graph, failure)
    assert (verdict.error_type, verdict.operation_id) == (free.error_type, free.operation_id)
    assert "flow" not in verdict.details


async def test_a_no_makes_the_loss_surer(clients: Clients, server: LlmServer, embedded: Database) -> None:
    graph, failure = await _told(embedded)
    free = await FlowPass().attribute(graph, failure)

    def says_no(kind: str, data: dict[str, Any]) -> dict[str, Any]:
        return {"number": 1, "quote": "", "holds": False} if kind == HOLDS else {"quote": "", "same": False}

    server.script(judging(says_no), repeat=True)
    verdict = await _walked(clients, graph, failure)
    assert verdict.error_type is ErrorType.EXTRACTION
    assert verdict.confidence > free.confidence


async def test_an_answer_that_says_the_same_in_other_words_was_judged_wrongly(
    clients: Clients, server: LlmServer, embedded: Database
) -> None:
    graph, failure = await _told(embedded, answer="At a festival.")
    assert (await FlowPass().attribute(graph, failure)).error_type is ErrorType.EXTRACTION
    asked = []

    def says_the_same(kind: str, data: dict[str, Any]) -> dict[str, Any]:
        asked.append(kind)
        return {"quote": "At a festival", "same": True}

    server.script(judging(says_the_same), repeat=True)
    verdict = await _walked(clients, graph, failure)
    assert verdict.error_type is ErrorType.JUDGE
    assert asked == [SAME]  # what texts hold does not matter any more


async def test_no_model_is_asked_where_the_free_pass_is_sure(
    clients: Clients, server: LlmServer, embedded: Database
) -> None:
    graph, failure = await _told(embedded, unit="Dana met Leo at the harbour festival.", answer="I don't know.")
    free = await FlowPass().attribute(graph, failure)
    assert free.confidence >= SURE
    assert await _walked(clients, graph, failure) == free
    assert server.requests == []


@pytest.mark.parametrize("answer", [fail(401, "no"), say("I don't do JSON."), say("")], ids=["401", "words", "empty"])
async def test_without_judgements_the_verdict_is_the_free_pass_s(
    clients: Clients, server: LlmServer, embedded: Database, answer: Any
) -> None:
    graph, failure = await _told(embedded)
    free = await FlowPass().attribute(graph, failure)
    server.script(answer, repeat=True)
    verdict = await _walked(clients, graph, failure)
    assert (verdict.error_type, verdict.confidence, verdict.path) == (free.error_type, free.confidence, free.path)
    assert verdict.details["undecided"]
    assert verdict.details["judgements"] == []
    assert (verdict.model, verdict.usage.calls) == ("scripted", len(server.requests))


async def test_replies_of_no_use_after_good_controls_leave_the_free_pass_s(
    clients: Clients, server: LlmServer, embedded: Database
) -> None:
    graph, failure = await _told(embedded)
    free = await FlowPass().attribute(graph, failure)
    server.script(judging(lambda kind, data: say('{"holds": tr', finish="length")), repeat=True)
    verdict = await _walked(clients, graph, failure)
    assert (verdict.error_type, verdict.confidence) == (free.error_type, free.confidence)
    assert verdict.details["undecided"]
    assert verdict.model == "scripted"


async def test_a_walk_without_gold_answers_asks_for_the_evidence(
    clients: Clients, server: LlmServer, embedded: Database
) -> None:
    graph, failure = await _told(embedded)
    server.script(judging(_found), repeat=True)
    walker = Walker(clients(MemoryCache()))
    await walker.attribute(FlowPass(), graph, failure, gold_free=True)
    asked = [one for one in server.requests if not _is_control(one)]
    assert asked
    assert {kind_of(one) for one in asked} <= {HOLDS, DROPPED}
    assert all(GOLD not in one.messages[1]["content"] for one in asked)


_SURELY = Reliability(
    {kind: Counts((20, 20, 0), (20, 0, 20)) for kind in (SAME, HOLDS, SUPPORTS)}, {DROPPED: (20, 20)}, 3
)


async def _eyes(clients: Clients, reliability: Reliability = _SURELY) -> ModelEyes:
    client = clients(MemoryCache())
    return ModelEyes(Asker(client, client.case_budget(), Allowance()), knowing(reliability))


def _finding(error_type: ErrorType, operation_id: str | None, likelihood: float) -> Finding:
    return Finding(error_type, operation_id, likelihood, "so", lambda: pytest.fail("no path is needed"))


@pytest.mark.parametrize(
    ("falsely", "before", "is_likely"), [(0, 0.4, True), (5, 0.4, False), (5, 0.6, True)], ids=["good", "weak", "own"]
)
async def test_only_a_model_that_is_hardly_ever_wrong_dismisses_a_failure(
    clients: Clients, server: LlmServer, embedded: Database, falsely: int, before: float, is_likely: bool
) -> None:
    graph, failure = await _told(embedded, answer="At a festival.")
    tried, _ = await FlowPass()._tried(graph, failure, False)
    server.script(judging(lambda kind, data: {"quote": "a festival", "same": True}), repeat=True)
    eyes = await _eyes(clients, Reliability({SAME: Counts((20, 20, 0), (20, falsely, 20 - falsely))}))
    (found,) = await eyes.on_answer(tried, [_finding(ErrorType.JUDGE, None, before)])
    assert found.likelihood > before
    assert (found.likelihood >= 0.5) is is_likely


@pytest.mark.parametrize(
    ("supports", "before", "is_likely"), [(True, 0.8, False), (False, 0.8, True), (False, 0.3, False)]
)
async def test_a_wrong_gold_answer_needs_more_than_a_model_s_no(
    clients: Clients, server: LlmServer, embedded: Database, supports: bool, before: float, is_likely: bool
) -> None:
    graph, failure = await _told(embedded)
    tried, _ = await FlowPass()._tried(graph, failure, False)
    server.script(judging(lambda kind, data: {"quote": "harbour festival", "supports": supports}), repeat=True)
    eyes = await _eyes(clients)
    (found,) = await eyes.on_gold(tried, [_finding(ErrorType.ANNOTATION, None, before)])
    assert (found.likelihood >= 0.5) is is_likely
    assert (found.likelihood == before) is (not supports and before < 0.5)
    (request,) = server.requests
    assert any(SAID in message for message in data_of(request)["messages"])


async def test_one_of_several_operations_is_chosen(clients: Clients, server: LlmServer, embedded: Database) -> None:
    graph, failure = await _told(embedded)
    flow = FlowPass()
    (ending,) = (await flow.endings(graph, failure))[0]
    assert ending.traced is not None
    extract, write = (next(one.id for one in graph.operations.values() if one.external_id == name) for name in _STEPS)
    findings = [_finding(ErrorType.UPDATE, write, 0.5), _finding(ErrorType.EXTRACTION, extract, 0.5)]
    server.script(judging(lambda kind, data: {"quote": data["steps"][0]["given"], "step": 1}), repeat=True)
    eyes = await _eyes(clients)
    found = await eyes.on_steps(ending.traced, findings)
    assert [one.operation_id for one in found] == [extract, write]
    assert found[0].likelihood > 0.9
    (request,) = server.requests
    assert [one["given"] for one in data_of(request)["steps"]] == [SAID, UNIT]


async def test_one_operation_is_no_choice(clients: Clients, server: LlmServer, embedded: Database) -> None:
    graph, failure = await _told(embedded)
    (ending,) = (await FlowPass().endings(graph, failure))[0]
    assert ending.traced is not None
    eyes = await _eyes(clients)
    findings = [_finding(ErrorType.UPDATE, next(iter(graph.operations)), 0.7)]
    assert await eyes.on_steps(ending.traced, findings) == findings
    assert server.requests == []


_STEPS = ("extract-unit", "write-unit")


@pytest.mark.parametrize("guesses", [False, True])
async def test_auto_lets_only_a_good_model_explore(
    clients: Clients, server: LlmServer, embedded: Database, tmp_path: Path, guesses: bool
) -> None:
    graph, failure = await _told(embedded)
    judge = judging(lambda kind, data: say("I can't tell."), guesses=guesses)

    def script(request: Any) -> Any:
        return call(("give_up", {})) if "tools" in request.body else judge(request)

    server.script(script, repeat=True)
    options = Options(Method.AUTO, llm=clients.settings(), replies=tmp_path, concurrency=1)
    (outcome,) = [one async for one in attribute(graph.store, [failure], options)]
    assert any("tools" in request.body for request in server.requests) is not guesses
    controls = [one for one in server.requests if "tools" not in one.body and kind_of(one) and _is_control(one)]
    judged = [one for one in server.requests if "tools" not in one.body and kind_of(one)]
    taken = (100 + 20) * len(judged)
    assert outcome.attribution.tokens == taken if guesses else (outcome.attribution.tokens or 0) > taken
    assert json.loads(outcome.attribution.attributes)["controlTokens"] == (100 + 20) * len(controls)
    assert outcome.attribution.error_type is ErrorType.EXTRACTION
    assert outcome.attribution.method == Method.AUTO


async def test_a_stored_verdict_of_a_walk_is_given_again(
    clients: Clients, server: LlmServer, embedded: Database, tmp_path: Path
) -> None:
    graph, failure = await _told(embedded)
    server.script(judging(_found), repeat=True)
    options = Options(Method.WALK, llm=clients.settings(), replies=tmp_path, concurrency=1)
    (first,) = [one async for one in attribute(graph.store, [failure], options)]
    (again,) = [one async for one in attribute(graph.store, [failure], options)]
    assert (first.cached, again.cached) == (False, True)
    stored = again.attribution
    assert (stored.error_type, stored.method, stored.model) == (ErrorType.RESPONSE, "walk", "scripted")
    assert (stored.tokens or 0) > 0
    assert stored.seconds is not None
