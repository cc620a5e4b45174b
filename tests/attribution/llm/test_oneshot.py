"""One-shot attribution: the whole log in one prompt, one reply, checked as an agent's is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attribution.llm.agent.log import log_of
from attribution.llm.agent.oneshot import PROMPTS, Oneshot
from attribution.llm.agent.prompt import prompt
from attribution.llm.agent.proposal import Proposal
from attribution.llm.transport.conversation import byte_size
from attribution.llm.transport.data import as_data
from attribution.llm.transport.schemas import schema_of
from attribution.verdicts.verdict import Verdict
from schema.kinds import ErrorType
from tests.attribution.llm.caches import MemoryCache
from tests.attribution.llm.conftest import Clients
from tests.attribution.llm.story import Story
from tests.llm_server import LlmServer, Request, fail, give, refuse, say


def _asked(request: Request) -> dict[str, Any]:
    text = request.messages[1]["content"]
    document: dict[str, Any] = json.loads(text.partition("<data>")[2].partition("</data>")[0])
    return document


async def _attribute(clients: Clients, story: Story, **settings: Any) -> Verdict:
    return await Oneshot(clients(**settings)).attribute(story.graph, story.failure, story.evidence)


async def test_one_reply_makes_a_verdict(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(give(story.proposal(), usage=(5_000, 300)))
    verdict = await _attribute(clients, story)
    assert (verdict.error_type, verdict.operation_id) == (ErrorType.UPDATE, story.operations["update"].id)
    assert len(verdict.path) == 3
    assert (verdict.usage.input_tokens, verdict.usage.output_tokens, verdict.usage.calls) == (5_000, 300, 1)
    assert set(verdict.details["prompts"]) == {"oneshot", "taxonomy"}
    assert verdict.details["operations_left_out"] == 0


async def test_the_log_has_every_operation_in_order_and_every_value_once(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    server.script(give(story.proposal()))
    await _attribute(clients, story)
    asked = _asked(server.requests[0])
    assert [line["operation"] for line in asked["log"]] == [f"op{n}" for n in range(len(story.operations))]
    (update,) = [line for line in asked["log"] if line["operation"] == story.op("update")]
    assert update["used"][0] == story.v("unit")
    assert update["used"][1]["variable"] == story.v("noise")
    assert update["ended"] == [story.v("unit")]
    text = json.dumps(asked["log"])
    assert text.count("I moved to Leeds in March 2025") == 1
    # An equal value is printed only at its newest variable.
    assert update["made"][0]["same_value_as"] == story.v("read-1")
    assert asked["failure"]["question"] == "When did Mara move?"


async def test_a_log_that_is_too_long_loses_its_start(story: Story) -> None:
    whole, missing = await log_of(story.case, 1_000_000)
    assert missing == 0
    for room in (20_000, 4_000, 1_500, 300, 0):
        lines, missing = await log_of(story.case, room)
        assert missing + len(lines) == len(whole)
        assert [line["operation"] for line in lines] == [line["operation"] for line in whole[missing:]]
        assert sum(len(as_data(line).encode()) for line in lines) <= room


async def test_it_fits_the_context_and_the_budget(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(give(story.proposal()), repeat=True)
    asked_anyway = byte_size(["\n\n".join(map(prompt, PROMPTS)), schema_of(Proposal).schema])
    limit = asked_anyway + 5_000
    verdict = await _attribute(clients, story, max_tokens=limit, output_tokens=1_000)
    assert verdict.error_type is ErrorType.UPDATE
    assert len(server.requests[0].messages[1]["content"].encode()) < limit
    assert verdict.details["operations_left_out"] > 0
    assert _asked(server.requests[0])["operations_left_out_at_the_start"] == verdict.details["operations_left_out"]


async def test_a_budget_too_small_for_the_question_is_an_abstention(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    verdict = await _attribute(clients, story, max_tokens=3_000)
    assert verdict.error_type is None
    assert "0 of 3,000 tokens are spent" in verdict.reason
    assert server.requests == []


async def test_halves_the_log_when_the_server_says_too_long(clients: Clients, server: LlmServer, story: Story) -> None:
    too_long = fail(400, "Please reduce the length of the messages.", "context_length_exceeded")
    server.script(too_long, too_long, give(story.proposal()))
    verdict = await _attribute(clients, story, max_tokens=40_000)
    assert verdict.error_type is ErrorType.UPDATE
    sizes = [len(as_data(_asked(request)["log"])) for request in server.requests]
    assert sizes[0] > sizes[1] > sizes[2]


async def test_a_server_that_takes_in_nothing_is_an_abstention(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    server.script(fail(413, "Request too large: too many tokens"), repeat=True)
    verdict = await _attribute(clients, story)
    assert "the server answered 413" in verdict.reason
    assert len(server.requests) == 4


async def test_a_verdict_that_can_not_stand_is_told_once(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(give(story.proposal(operation="op77")), give(story.proposal()))
    assert (await _attribute(clients, story)).error_type is ErrorType.UPDATE
    assert "there is no operation 'op77'" in server.requests[1].last


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ([{"operation": "op77"}, {"operation": "op78"}], "there is no operation 'op78'"),
        ([{"error_type": "Whatever"}, {"error_type": "Whatever"}], "error_type"),
    ],
)
async def test_what_can_not_stand_twice_is_an_abstention(
    clients: Clients, server: LlmServer, story: Story, replies: list[dict[str, Any]], reason: str
) -> None:
    server.script(*[give(story.proposal(**changes)) for changes in replies])
    verdict = await _attribute(clients, story)
    assert verdict.error_type is None
    assert reason in verdict.reason
    assert verdict.usage.calls == 2


async def test_refusals_and_nonsense_are_abstentions(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(refuse("no"), say("The update."), say("I said: the update."))
    assert "refused" in (await _attribute(clients, story)).reason
    assert "not valid" in (await _attribute(clients, story)).reason


async def test_gold_free_tells_no_gold(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(give({"error_type": None, "confidence": 0.1, "reason": "unclear"}))
    await Oneshot(clients()).attribute(story.graph, story.gold_free, [])
    asked = _asked(server.requests[0])
    assert asked["failure"]["gold_answers"] == "unknown"
    assert "Wrong: it is" not in json.dumps(asked)
    hidden = [
        v
        for line in asked["log"]
        for v in [*line["used"], *line["made"]]
        if isinstance(v, dict) and v["kind"] in ("GoldAnswer", "Judgement")
    ]
    assert len(hidden) == 4
    assert {variable["value"] for variable in hidden} == {"(not shown: it would tell the right answer)"}


async def test_a_second_run_does_not_pay_again(clients: Clients, server: LlmServer, story: Story) -> None:
    cache = MemoryCache()
    server.script(give(story.proposal()))
    first = await Oneshot(clients(cache)).attribute(story.graph, story.failure, story.evidence)
    again = await Oneshot(clients(cache)).attribute(story.graph, story.failure, story.evidence)
    assert (first.path, first.usage) == (again.path, again.usage)
    assert len(server.requests) == 1
