"""Names that several operations have: a model is told which operations it may mean, and chooses one."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from attribution.llm.agent.agent import Agent
from attribution.llm.agent.briefing import describe_trace
from attribution.llm.agent.naming import describe_shared, shared_names
from attribution.llm.agent.proposal import Proposal
from attribution.llm.agent.rendering import HIDDEN
from attribution.llm.agent.view import FailureView
from attribution.verdicts.verdict import Verdict
from schema.kinds import ErrorType
from tests.attribution.llm.conftest import Clients
from tests.attribution.llm.story import Story
from tests.llm_server import LlmServer, call, say

SHARED = "ChatOpenAI"


def _rename(story: Story, *names: str) -> None:
    """Give operations one name, as frameworks do with each call of a model."""
    for name in names:
        one = story.operations[name]
        story.graph.operations[one.id] = replace(one, name=SHARED)


async def _attribute(clients: Clients, story: Story, **settings: Any) -> Verdict:
    return await Agent(clients(**settings)).attribute(story.graph, story.failure, story.evidence)


async def test_a_shared_name_is_answered_with_ids_and_is_no_failed_proposal(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    _rename(story, "extract", "update", "reply-1")
    wrong = [call(("propose_verdict", story.proposal(operation=f"op77{number}"))) for number in range(4)]
    server.script(
        *wrong,
        call(("propose_verdict", story.proposal(operation=SHARED))),
        call(("propose_verdict", story.proposal())),
    )
    verdict = await _attribute(clients, story)
    assert (verdict.error_type, verdict.operation_id) == (ErrorType.UPDATE, story.operations["update"].id)
    assert len(verdict.details["rejections"]) == 4
    told = json.loads(server.requests[5].last)
    (unclear,) = told["unclear"]
    assert unclear["name"] == SHARED
    listed = {one["operation"]: [made["preview"] for made in one["made"]] for one in unclear["operations"]["items"]}
    assert listed == {
        story.op("extract"): ["Mara moved to Leeds\nin March 2025.", "Mara's sister lives in York."],
        story.op("update"): ["Mara moved to Leeds."],
    }
    assert "rejected" not in told
    assert "with the id" in told["note"]


async def test_a_shared_name_that_comes_again_counts(clients: Clients, server: LlmServer, story: Story) -> None:
    _rename(story, "extract", "update")
    server.script(call(("propose_verdict", story.proposal(operation=SHARED))), repeat=True)
    verdict = await _attribute(clients, story)
    assert verdict.error_type is None
    assert "5 proposals could not stand" in verdict.reason
    assert f"write the id of one: {story.op('extract')}, {story.op('update')}" in verdict.reason
    assert len(server.requests) == 1 + 5


async def test_a_name_that_one_operation_has_is_understood(clients: Clients, server: LlmServer, story: Story) -> None:
    _rename(story, "update", "configure", "reply-1")
    server.script(call(("propose_verdict", story.proposal(operation=SHARED))))
    verdict = await _attribute(clients, story)
    assert verdict.operation_id == story.operations["update"].id


async def test_ids_are_told_to_a_model_that_writes_its_calls(clients: Clients, server: LlmServer, story: Story) -> None:
    _rename(story, "extract", "update")
    written = [json.dumps({"name": "propose_verdict", "arguments": story.proposal(operation=one)}) for one in ("", "")]
    written[0] = json.dumps({"name": "propose_verdict", "arguments": story.proposal(operation=SHARED)})
    written[1] = json.dumps({"name": "propose_verdict", "arguments": story.proposal()})
    server.script(*map(say, written))
    verdict = await _attribute(clients, story)
    assert verdict.operation_id == story.operations["update"].id
    assert verdict.details["rejections"] == []
    assert f'"operation":"{story.op("extract")}"' in server.requests[1].last


@pytest.mark.parametrize("place", ["alternatives", "pieces"])
def test_shared_names_are_found_in_all_parts_of_a_proposal(story: Story, place: str) -> None:
    _rename(story, "extract", "update")
    one = {"error_type": "UpdateError", "operation": SHARED, "confidence": 0.5, "reason": "or"}
    part = one | ({"reached": False, "steps": []} if place == "pieces" else {})
    proposal = Proposal.model_validate(story.proposal(**{place: [part, part]}))
    assert shared_names(story.case, proposal) == [SHARED]
    assert shared_names(story.case, Proposal.model_validate(story.proposal(operation=None))) == []


def test_a_long_list_of_operations_says_how_many_there_are(story: Story) -> None:
    for one in list(story.graph.operations.values()):
        story.graph.operations[one.id] = replace(one, name="step")
    several = story.case.called("step")
    made = describe_shared(story.case, "step")["operations"]
    assert [one["operation"] for one in made["items"]] == [story.case.operation_alias(one.id) for one in several]
    assert story.op("reply-1") not in [one["operation"] for one in made["items"]]


def test_what_tells_the_gold_answer_is_not_shown(story: Story) -> None:
    _rename(story, "judge-0", "update")
    blind = FailureView(story.graph, story.gold_free, story.evidence)
    items = describe_shared(blind, SHARED)["operations"]["items"]
    assert HIDDEN in [one["preview"] for item in items for one in item["made"]]


def test_the_first_prompt_names_the_operations_of_a_name_that_may_be_meant(story: Story) -> None:
    _rename(story, "reply-0", "reply-1", "configure")
    groups = [one for one in describe_trace(story.case)["operations"]["items"] if one["name"] == SHARED]
    replies = next(one for one in groups if one["kind"] == "Generation")
    assert (replies["count"], replies["candidates"]) == (2, {"items": [story.op("reply-0")]})
