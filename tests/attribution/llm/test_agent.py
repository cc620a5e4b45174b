"""The agent: it ends in a verdict that was checked, or in an abstention that says why."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from attribution.llm.agent.agent import Agent
from attribution.verdicts.usage import Usage
from attribution.verdicts.verdict import Link, Method, Step, Verdict, from_attribution, to_attribution
from schema.errors import CorruptValueError
from schema.kinds import ErrorType
from tests.attribution.llm.conftest import Clients
from tests.attribution.llm.story import Story
from tests.llm_server import DRIP, DROP, GARBAGE, HANG, Answer, LlmServer, Request, call, fail, give, refuse, say


async def _attribute(clients: Clients, story: Story, **settings: Any) -> Verdict:
    return await Agent(clients(**settings)).attribute(story.graph, story.failure, story.evidence)


async def test_explores_and_ends_in_a_checked_verdict(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(
        call(("search", {"words": "march 2025"}), ("look_at_operation", {"operation": story.op("update")})),
        call(("propose_verdict", story.proposal()), usage=(300, 50)),
    )
    verdict = await _attribute(clients, story)
    assert (verdict.error_type, verdict.operation_id) == (ErrorType.UPDATE, story.operations["update"].id)
    assert verdict.confidence == 0.9
    assert verdict.path == (
        Step(story.variables["message"].id, None, Link.START, "March 2025", True),
        Step(story.variables["unit"].id, story.operations["extract"].id, Link.DERIVATION, "in March 2025", True),
        Step(story.variables["newer"].id, story.operations["update"].id, Link.DERIVATION, "moved to Leeds", False),
    )
    assert verdict.usage == Usage(400, 70, 2, 300 / 1e6 + 800 / 1e6)
    assert verdict.model == "scripted"
    assert set(verdict.details["prompts"]) == {"agent", "taxonomy"}
    assert verdict.details["evidence"] == story.evidence
    assert [entry.split()[0] for entry in verdict.details["trail"]] == ["search", "look_at_operation"]
    stored = to_attribution(verdict, story.failure, Method.LLM, "inputs")
    assert from_attribution(stored).path == verdict.path


async def test_tool_results_reach_the_model(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(
        call(("look_at_variable", {"variable": story.v("unit")}), ("search", {"words": "nowhere-to-be-found"})),
        call(("propose_verdict", story.proposal())),
    )
    await _attribute(clients, story, max_calls=10)
    *_, looked, searched = server.requests[1].messages
    assert (looked["tool_call_id"], searched["tool_call_id"]) == ("id-0", "id-1")
    assert json.loads(looked["content"])["value"] == "Mara moved to Leeds\nin March 2025."
    assert json.loads(searched["content"]) == {"hits": [], "calls_left": 9}


async def test_rejected_proposal_is_told_back(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(
        call(("propose_verdict", story.proposal(operation="op77"))),
        call(("propose_verdict", story.proposal())),
    )
    verdict = await _attribute(clients, story)
    assert verdict.error_type is ErrorType.UPDATE
    told = json.loads(server.requests[1].last)
    assert told["rejected"] == ["operation: there is no operation 'op77' in this trace: name one that a tool showed"]
    assert len(verdict.details["rejections"]) == 1


async def test_proposals_that_never_stand_end_in_an_abstention(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    server.script(call(("propose_verdict", story.proposal(operation="op77"))), repeat=True)
    verdict = await _attribute(clients, story)
    assert (verdict.error_type, verdict.operation_id, verdict.confidence) == (None, None, 0.0)
    assert "5 proposals could not stand" in verdict.reason
    assert "op77" in verdict.reason
    assert len(server.requests) == 5


async def test_the_model_may_abstain(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(call(("propose_verdict", {"error_type": None, "confidence": 0.2, "reason": "All looks right."})))
    verdict = await _attribute(clients, story)
    assert verdict.error_type is None
    assert verdict.reason == "the model could not tell: All looks right."


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([refuse("I can't help with that.")], "the model refused to answer: I can't help with that."),
        ([say("", finish="content_filter")], "the model refused to answer: its content filter stopped it"),
        ([say("Let me think of it", finish="length")] * 2, "the model's reply is longer than"),
        ([say("Let me think. " * 9, finish="length")] * 2, "the model repeats the same words without an end"),
        ([say("<think>Let me see", finish="length")] * 2, "the model was still thinking when its reply was cut off"),
        (
            [say("", finish="length")] * 2,
            "for thoughts, and said nothing; MEMTRACE_LLM_OUTPUT_TOKENS allows longer replies",
        ),
        ([say("")] * 3, "the model called no tool in 3 replies; the last one is empty"),
        ([say("<think>Hm.</think>")] * 3, "the model called no tool in 3 replies; the last one has only thoughts"),
        ([say("It is the update."), say("Really."), say("Yes.")], "the model called no tool in 3 replies"),
        ([fail(500, "broken")] * 3, "the server answered 500: broken"),
        ([fail(401, "wrong key")], "the server answered 401: wrong key"),
        ([fail(400, "that is not supported")] * 4, "the server answered 400: that is not supported"),
        ([GARBAGE] * 3, "the server's answer is malformed"),
        ([DROP] * 3, "the server can't be reached"),
    ],
    ids=[
        "refusal",
        "filter",
        "cut",
        "repeats",
        "thinks",
        "only thought",
        "empty",
        "thoughts",
        "idle",
        "500",
        "401",
        "400",
        "garbage",
        "drop",
    ],
)
async def test_abstains_with_the_reason(
    clients: Clients, server: LlmServer, story: Story, answers: list[Answer], reason: str
) -> None:
    server.script(*answers)
    verdict = await _attribute(clients, story)
    assert verdict.error_type is None
    assert verdict.operation_id is None
    assert reason in verdict.reason
    assert server.left == 0
    assert verdict.usage.calls == len(answers)


async def test_calls_that_are_written_as_text_are_carried_out(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    looking = {"name": "look_at_operation", "arguments": {"operation": story.op("update")}}
    proposing = {"name": "propose_verdict", "arguments": story.proposal()}
    server.script(
        say(f"<think>Let me look.</think>```json\n{json.dumps(looking)}\n```"),
        say(f"<tool_call>{json.dumps(proposing)}</tool_call>"),
    )
    verdict = await _attribute(clients, story)
    assert verdict.error_type is ErrorType.UPDATE
    assert len(verdict.details["trail"]) == 1
    assert server.requests[1].messages[-1]["role"] == "user"
    assert "Result of look_at_operation" in server.requests[1].last


async def test_a_model_that_calls_no_tools_is_asked_for_json(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(
        say("It is the update, I think."),
        give({"name": "look_at_operation", "arguments": {"operation": story.op("update")}}),
        give({"name": "propose_verdict", "arguments": story.proposal()}),
    )
    verdict = await _attribute(clients, story)
    assert verdict.error_type is ErrorType.UPDATE
    assert [bool(one.tools) for one in server.requests] == [True, False, False]
    asked = server.requests[1].body["response_format"]["json_schema"]["schema"]
    assert "propose_verdict" in asked["properties"]["name"]["enum"]
    assert '"look_at_operation"' in server.requests[1].last


async def test_a_model_that_repeats_a_call_is_asked_for_its_verdict(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    looking = call(("look_at_variable", {"variable": story.v("unit")}))
    server.script(*[looking] * 4, give({"name": "propose_verdict", "arguments": story.proposal()}))
    verdict = await _attribute(clients, story)
    assert verdict.error_type is ErrorType.UPDATE
    told = [json.loads(one["content"]) for one in server.requests[-1].messages if one["role"] == "tool"]
    assert [one.get("error", "") for one in told][1:] == [
        "this result stands above already: look at something else, or end with propose_verdict"
    ] * 3
    assert [bool(one.tools) for one in server.requests] == [True] * 4 + [False]
    asked = server.requests[-1].body["response_format"]["json_schema"]["schema"]
    assert asked["properties"]["name"]["enum"] == ["propose_verdict"]


async def test_a_model_that_repeats_calls_without_an_end_is_an_abstention(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    server.script(call(("look_at_variable", {"variable": story.v("unit")})), repeat=True)
    verdict = await _attribute(clients, story)
    assert verdict.error_type is None
    assert verdict.reason.startswith("the model repeated its calls in 10 replies, at last look_at_variable")
    assert verdict.usage.calls == 11


async def test_another_call_after_a_repeated_one_goes_on(clients: Clients, server: LlmServer, story: Story) -> None:
    def look(name: str) -> Answer:
        return call(("look_at_variable", {"variable": story.v(name)}))

    server.script(
        *[look("unit"), look("unit"), look("unit"), look("newer"), look("unit"), look("unit")],
        call(("propose_verdict", story.proposal())),
    )
    assert (await _attribute(clients, story)).error_type is ErrorType.UPDATE
    assert all(one.tools for one in server.requests)


@pytest.mark.parametrize("text", ["I would look, and look, and", "", "<think>Hm"])
async def test_a_model_that_rambles_on_is_asked_for_json(
    clients: Clients, server: LlmServer, story: Story, text: str
) -> None:
    server.script(say(text, finish="length"), give({"name": "propose_verdict", "arguments": story.proposal()}))
    verdict = await _attribute(clients, story)
    assert verdict.error_type is ErrorType.UPDATE
    assert [bool(one.tools) for one in server.requests] == [True, False]


async def test_a_server_without_tools_is_asked_for_json(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(fail(400, "no tools here"), give({"name": "propose_verdict", "arguments": story.proposal()}))
    verdict = await _attribute(clients, story)
    assert verdict.error_type is ErrorType.UPDATE


@pytest.mark.parametrize("answer", [HANG, DRIP], ids=["hang", "drip"])
async def test_abstains_when_the_server_takes_too_long(
    clients: Clients, server: LlmServer, story: Story, answer: Answer
) -> None:
    server.script(answer, repeat=True)
    verdict = await _attribute(clients, story, timeout=0.2, retries=1)
    assert verdict.error_type is None
    assert verdict.reason == "the server did not answer within 0.2 s"
    assert verdict.usage.calls == 2


async def test_goes_on_after_failures_that_pass(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(
        fail(429, "slow down", retry_after="7"),
        GARBAGE,
        call(("versions", {"variable": story.v("unit")})),
        fail(503, "overloaded"),
        call(("propose_verdict", story.proposal())),
    )
    verdict = await _attribute(clients, story)
    assert verdict.error_type is ErrorType.UPDATE
    assert clients.waits[0] == 7.0
    assert verdict.usage.calls == 5


@pytest.mark.parametrize(
    "name", ["search", "look_at_operation", "look_at_variable", "read_value", "step", "versions", "made_up"]
)
async def test_wrong_calls_are_told_back(clients: Clients, server: LlmServer, story: Story, name: str) -> None:
    wrong = [
        "{",
        "[]",
        '{"operation": "op77"}',
        '{"variable": "v77"}',
        '{"words": " "}',
        '{"words": 3}',
        "null",
        "[" * 9000,
    ]
    server.script(call(*[(name, arguments) for arguments in wrong]), call(("propose_verdict", story.proposal())))
    verdict = await _attribute(clients, story)
    assert verdict.error_type is ErrorType.UPDATE
    *_, asked = [message for message in server.requests[1].messages if message["role"] == "assistant"]
    results = [json.loads(message["content"]) for message in server.requests[1].messages if message["role"] == "tool"]
    assert len(results) == len(wrong)
    assert all(result["error"] for result in results)
    # Servers read the arguments of earlier calls again.
    assert all(isinstance(json.loads(one["function"]["arguments"]), dict) for one in asked["tool_calls"])


async def test_calls_beyond_the_bound_are_answered_all_the_same(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    server.script(
        call(*[("read_value", {"variable": story.v("unit"), "offset": offset}) for offset in range(10)]),
        call(("propose_verdict", story.proposal())),
    )
    await _attribute(clients, story)
    results = [json.loads(m["content"]) for m in server.requests[1].messages if m["role"] == "tool"]
    assert ["error" in result for result in results] == [False] * 8 + [True] * 2


async def test_the_hint_is_shown_with_short_names(clients: Clients, server: LlmServer, story: Story) -> None:
    hint = Verdict(
        ErrorType.RETRIEVAL,
        story.operations["search-0"].id,
        0.4,
        "not returned",
        path=(Step(story.variables["message"].id, None, Link.START, "March 2025", True),),
    )
    server.script(call(("propose_verdict", story.proposal())))
    await Agent(clients()).attribute(story.graph, story.failure, story.evidence, hint)
    shown = json.loads(server.requests[0].last.partition("<data>")[2].partition("</data>")[0])
    assert shown["hint"]["operation"] == story.op("search-0")
    assert shown["hint"]["steps"] == [{"variable": story.v("message"), "holds": True, "quote": "March 2025"}]
    assert shown["failure"]["gold_answers"] == ["March 2025"]
    assert shown["failure"]["evidence"][0]["variable"] == story.v("message")


async def test_a_long_hint_is_told_by_its_turns(clients: Clients, server: LlmServer, story: Story) -> None:
    def step(name: str, holds: bool) -> Step:
        return Step(story.variables[name].id, None, Link.DERIVATION, "", holds)

    path = (*[step("message", True)] * 3, *[step("unit", True)] * 300, *[step("newer", False)] * 300)
    server.script(call(("propose_verdict", story.proposal())))
    hint = Verdict(ErrorType.UPDATE, None, 0.4, "lost", path=path)
    await Agent(clients()).attribute(story.graph, story.failure, story.evidence, hint)
    shown = json.loads(server.requests[0].last.partition("<data>")[2].partition("</data>")[0])["hint"]["steps"]
    told = [(one["variable"], one["holds"]) for one in shown]
    newer = (story.v("newer"), False)
    assert told == [(story.v("message"), True), (story.v("unit"), True), newer, newer]


async def test_labels_of_data_sets_are_never_shown(clients: Clients, server: LlmServer, story: Story) -> None:
    failure = replace(story.failure, attributes='{"final_error_type": "the-label-of-the-data-set"}')
    server.script(call(("propose_verdict", story.proposal())))
    await Agent(clients()).attribute(story.graph, failure, story.evidence)
    assert "the-label-of-the-data-set" not in json.dumps(server.requests[0].body)


async def test_gold_free_shows_nothing_that_tells_gold(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(
        call(
            ("search", {"words": "March 2025"}),
            ("look_at_variable", {"variable": story.v("gold-0")}),
            ("read_value", {"variable": story.v("judgement-0")}),
            ("look_at_operation", {"operation": story.op("judge-0")}),
            ("step", {"variable": story.v("answer-0"), "direction": "forward"}),
            ("versions", {"variable": story.v("gold-0")}),
        ),
        call(("propose_verdict", story.proposal(steps=story.proposal()["steps"][1:]))),
    )
    # Evidence would tell it too, but evidence is known: so look without.
    verdict = await Agent(clients()).attribute(story.graph, story.gold_free, [])
    assert verdict.error_type is ErrorType.UPDATE
    assert verdict.details["gold"] is False
    results = [m["content"] for m in server.requests[1].messages if m["role"] == "tool"]
    found = {hit["variable"] for hit in json.loads(results[0])["hits"]}
    assert found == {story.v("message"), story.v("unit")}
    assert all("March 2025" not in result for result in results[1:])


async def test_old_results_are_left_out_when_the_context_is_full(
    clients: Clients, server: LlmServer, story: Story
) -> None:
    def read(request: Request) -> Answer:
        size = len(json.dumps(request.messages))
        return call(
            ("read_value", {"variable": story.v("long"), "offset": len(request.messages)}), usage=(size // 4, 10)
        )

    server.script(*[read] * 8, call(("propose_verdict", story.proposal())))
    verdict = await _attribute(clients, story, context_tokens=8_000, output_tokens=1_000)
    assert verdict.error_type is ErrorType.UPDATE
    sizes = [len(json.dumps(request.messages)) // 4 for request in server.requests]
    assert max(sizes) < 8_000
    results = [m["content"] for m in server.requests[-1].messages if m["role"] == "tool"]
    assert "left out" in results[0]
    assert "filler" in results[-1]


async def test_shortens_when_the_server_says_too_long(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(
        *[call(("read_value", {"variable": story.v("long"), "offset": at}), usage=(9_000, 10)) for at in range(5)],
        fail(400, "This model's maximum context length is 4096 tokens.", code="context_length_exceeded"),
        call(("propose_verdict", story.proposal())),
    )
    verdict = await _attribute(clients, story)
    assert verdict.error_type is ErrorType.UPDATE
    before, after = ([json.dumps(one) for one in request.messages] for request in server.requests[-2:])
    assert [sum("left out to save room" in one for one in some) for some in (before, after)] == [0, 3]
    assert sum(map(len, before)) - sum(map(len, after)) > 3 * 3_900


async def test_a_damaged_value_is_an_abstention(
    clients: Clients, server: LlmServer, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def damaged(_: object) -> str:
        raise CorruptValueError("b2:1234")

    monkeypatch.setattr(story.graph, "text", damaged)
    server.script(call(("look_at_variable", {"variable": story.v("unit")})))
    verdict = await _attribute(clients, story)
    assert verdict.error_type is None
    assert "damaged" in verdict.reason


async def test_many_cases_at_once_are_bounded(clients: Clients, server: LlmServer, story: Story) -> None:
    server.script(call(("propose_verdict", story.proposal())), repeat=True)
    agent = Agent(clients(concurrency=2))
    verdicts = await asyncio.gather(*[agent.attribute(story.graph, story.failure, story.evidence) for _ in range(8)])
    assert all(verdict.error_type is ErrorType.UPDATE for verdict in verdicts)
    assert server.peak <= 2
