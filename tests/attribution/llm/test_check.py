"""Proposals of a model: which are accepted, and the path that is built from the cited variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.free_pass.proof_path import problems
from attribution.llm.agent.check import checked
from attribution.llm.agent.proposal import Proposal
from attribution.llm.agent.quotes import find_quote
from attribution.llm.transport.schemas import Rejected, schema_of
from attribution.verdicts.verdict import CandidateVerdict, Link, Step, Verdict
from schema.kinds import ErrorType
from tests.attribution.llm.story import Story


async def _check(story: Story, **changes: Any) -> Verdict:
    verdict = await checked(story.case, Proposal.model_validate(story.proposal(**changes)))
    assert await problems(verdict, story.graph) == []
    return verdict


async def _problems(story: Story, **changes: Any) -> list[str]:
    with pytest.raises(Rejected) as caught:
        await _check(story, **changes)
    return caught.value.problems


def _steps(story: Story, *cited: tuple[str, str, bool]) -> list[dict[str, Any]]:
    return [{"variable": story.v(name), "quote": quote, "holds": holds} for name, quote, holds in cited]


@pytest.mark.parametrize(
    "operation", ["op999", "op-1", "updating", "v3", "op", "", "op3; DROP", "op99999999999999999999"]
)
async def test_invented_operations_are_rejected(story: Story, operation: str) -> None:
    (problem,) = await _problems(story, operation=operation)
    assert "there is no operation" in problem or "needs the operation at fault" in problem


async def test_a_model_is_told_which_operation_it_may_have_meant(story: Story) -> None:
    (problem,) = await _problems(story, operation=story.v("newer"))
    assert problem.endswith(f"in this trace: it is a variable, which {story.op('update')} made")


async def test_an_operation_may_be_named_by_its_full_name_if_no_other_has_it(story: Story) -> None:
    assert (await _check(story, operation="update")).operation_id == story.operations["update"].id
    tidy = story.operations["tidy"]
    story.graph.operations[tidy.id] = replace(tidy, name="update")
    (problem,) = await _problems(story, operation="update")
    names = f"{story.op('update')}, {story.op('tidy')}"
    assert problem.endswith(f"several operations have this name: write the id of one: {names}")


async def test_of_operations_with_one_name_the_one_in_reach_is_meant(story: Story) -> None:
    for name in ("configure", "skim", "reply-1"):
        one = story.operations[name]
        story.graph.operations[one.id] = replace(one, name="update")
    assert (await _check(story, operation="update")).operation_id == story.operations["update"].id


async def test_an_operation_out_of_reach_is_rejected(story: Story) -> None:
    problems = await _problems(story, operation=story.op("configure"))
    assert any("has nothing to do with this answer" in problem for problem in problems)


@pytest.mark.parametrize("name", ["search-1", "reply-1"])
async def test_an_operation_of_another_question_is_rejected(story: Story, name: str) -> None:
    problems = await _problems(story, error_type="RetrievalError", operation=story.op(name))
    assert f"operation: {story.op(name)} served another question" in problems


async def test_a_message_that_is_quoted_is_evidence_too(story: Story) -> None:
    blamed = {"error_type": "ExtractionError", "operation": story.op("skim")}
    steps = _steps(story, ("beside", "a long move", True))
    assert (await _check(story, **blamed, steps=steps)).operation_id == story.operations["skim"].id
    problems = await _problems(story, **blamed)
    assert any("has nothing to do with this answer" in problem for problem in problems)


async def test_every_operation_of_the_story_that_is_in_reach(story: Story) -> None:
    named = {name for name, operation in story.operations.items() if operation.id in story.case.reach}
    assert named >= {"extract", "overlook", "update", "search-0", "reply-0", "judge-0"}
    assert named.isdisjoint({"configure", "skim"})


async def test_an_operation_that_made_nothing_can_be_blamed(story: Story) -> None:
    """It had the message and extracted nothing: nothing derives from it, and it is at fault all the same."""
    verdict = await _check(
        story,
        error_type="ExtractionError",
        operation=story.op("overlook"),
        steps=_steps(story, ("message", "March 2025", True)),
    )
    assert verdict.operation_id == story.operations["overlook"].id


@pytest.mark.parametrize(
    "error_type", ["ExtractionError", "UpdateError", "DeletionError", "RetrievalError", "ResponseError"]
)
async def test_errors_of_the_memory_need_an_operation_and_a_step(story: Story, error_type: str) -> None:
    assert f"operation: {error_type} needs the operation at fault" in await _problems(
        story, error_type=error_type, operation=None
    )
    assert "steps: cite at least one variable with a quote that shows the detail" in await _problems(
        story, error_type=error_type, steps=[]
    )
    assert f"operation: {story.op('judge-0')} judges, so it can't be at fault for {error_type}" in await _problems(
        story, error_type=error_type, operation=story.op("judge-0")
    )


async def test_annotation_errors_blame_no_operation(story: Story) -> None:
    quoted = _steps(story, ("message", "March 2025", True))
    for named in (None, story.op("update"), "no such operation"):
        verdict = await _check(story, error_type="AnnotationError", operation=named, steps=quoted)
        assert (verdict.error_type, verdict.operation_id) == (ErrorType.ANNOTATION, None)
    other = {"error_type": "AnnotationError", "operation": story.op("update"), "confidence": 0.1, "reason": "maybe"}
    (candidate,) = (await _check(story, alternatives=[other])).candidates
    assert (candidate.error_type, candidate.operation_id) == (ErrorType.ANNOTATION, None)


@pytest.mark.parametrize("quoted", [(), (("unit", "March 2025", True),), (("message", "", False),)])
async def test_annotation_errors_quote_a_message(story: Story, quoted: tuple[tuple[str, str, bool], ...]) -> None:
    problems = await _problems(story, error_type="AnnotationError", operation=None, steps=_steps(story, *quoted))
    assert problems == ["steps: quote a message that says something else than the gold answer about the same thing"]


async def test_judge_errors_blame_the_judge_or_nobody(story: Story) -> None:
    assert (await _check(story, error_type="LLMAsAJudgeError", operation=None, steps=[])).operation_id is None
    judge = await _check(story, error_type="LLMAsAJudgeError", operation=story.op("judge-0"), steps=[])
    assert judge.operation_id == story.operations["judge-0"].id
    for wrong, problem in [("update", "does not judge"), ("judge-1", "served another question")]:
        found = await _problems(story, error_type="LLMAsAJudgeError", operation=story.op(wrong), steps=[])
        assert problem in found[0]


async def test_quotes_must_stand_in_their_variables(story: Story) -> None:
    steps = _steps(story, ("message", "April 2025", True), ("unit", "", True), ("newer", "in March", False))
    problems = await _problems(story, steps=steps)
    assert [problem.split(":")[0] for problem in problems] == ["steps.0", "steps.1", "steps.2"]
    assert "does not stand in" in problems[0]
    assert "quote it word by word" in problems[1]


async def test_invented_variables_are_rejected(story: Story) -> None:
    problems = await _problems(story, steps=[{"variable": "v999", "quote": "x", "holds": True}])
    assert problems == ["steps.0: there is no variable 'v999': name one that a tool showed"]


async def test_alternatives_are_checked_and_sorted(story: Story) -> None:
    good = [
        {
            "error_type": "RetrievalError",
            "operation": story.op("search-0"),
            "confidence": 0.1,
            "reason": "or not found",
        },
        {"error_type": "AnnotationError", "operation": None, "confidence": 0.3, "reason": "or wrong gold"},
    ]
    verdict = await _check(story, alternatives=good)
    assert verdict.candidates == (
        CandidateVerdict(ErrorType.ANNOTATION, None, 0.3, "or wrong gold"),
        CandidateVerdict(ErrorType.RETRIEVAL, story.operations["search-0"].id, 0.1, "or not found"),
    )
    bad = [{"error_type": "RetrievalError", "operation": "op999", "confidence": 0.1, "reason": "x"}]
    assert "alternatives: operation: there is no operation 'op999'" in (await _problems(story, alternatives=bad))[0]


async def test_the_path_is_filled_in_along_derivations(story: Story) -> None:
    steps = _steps(story, ("message", "March 2025", True), ("answer-0", "In April.", False))
    verdict = await _check(story, error_type="ResponseError", operation=story.op("reply-0"), steps=steps)
    v, ops = story.variables, story.operations
    assert verdict.path == (
        Step(v["message"].id, None, Link.START, "March 2025", True),
        Step(v["unit"].id, ops["extract"].id, Link.DERIVATION, "March 2025", True),
        Step(v["newer"].id, ops["update"].id, Link.DERIVATION, "", False),
        Step(v["read-0"].id, ops["search-0"].id, Link.DERIVATION, "", False),
        Step(v["answer-0"].id, ops["reply-0"].id, Link.DERIVATION, "In April.", False),
    )


async def test_what_an_operation_ended_is_joined_by_it(story: Story) -> None:
    steps = _steps(story, ("unit-3", "likes tea", True), ("tidied", "", False))
    verdict = await _check(story, error_type="DeletionError", operation=story.op("tidy"), steps=steps)
    assert verdict.path[1].link is Link.OPERATION


async def test_a_unit_that_a_search_missed_is_joined_by_the_search(story: Story) -> None:
    steps = _steps(story, ("sister", "York", True), ("read-0", "Mara moved", False))
    verdict = await _check(story, error_type="RetrievalError", operation=story.op("search-0"), steps=steps)
    assert verdict.path[1].link is Link.OPERATION
    assert verdict.path[1].operation_id == story.operations["search-0"].id


async def test_a_unit_that_had_ended_was_not_searched(story: Story) -> None:
    """The version with the month was no longer current: the search can't be blamed for missing it."""
    problems = await _problems(
        story,
        error_type="RetrievalError",
        operation=story.op("search-0"),
        steps=_steps(story, ("unit", "in March 2025", True)),
    )
    assert problems == [
        f"steps: none is a variable that {story.op('search-0')} used, made, ended or searched: cite what it had at hand"
    ]


async def test_what_an_operation_used_is_joined_by_it(story: Story) -> None:
    """The judge used the gold answer; the answer does not derive from it."""
    steps = _steps(story, ("long", "the end", True), ("newer", "", False))
    problems = await _problems(story, steps=steps)
    assert "does not follow from" in problems[0]


async def test_steps_in_the_wrong_order_are_told(story: Story) -> None:
    steps = _steps(story, ("newer", "moved to Leeds", False), ("unit", "in March 2025", True))
    assert f"{story.v('unit')} does not follow from {story.v('newer')}" in (await _problems(story, steps=steps))[0]


async def test_too_many_steps_are_rejected(story: Story) -> None:
    steps = _steps(story, *[("message", "March 2025", True)] * 21)
    assert await _problems(story, steps=steps) == ["steps: at most 20"]


async def test_a_reason_is_needed_and_bounded(story: Story) -> None:
    assert await _problems(story, reason=" \n") == ["reason: say why"]
    verdict = await _check(story, reason="because\u0000 \u001b[31mof it\n" * 1_000)
    assert len(verdict.reason) <= 2_000
    assert "\u001b" not in verdict.reason
    assert "\u0000" not in verdict.reason


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_confidence_is_a_probability(story: Story, confidence: float) -> None:
    with pytest.raises(ValueError, match="must be from 0 to 1"):
        Proposal.model_validate(story.proposal(confidence=confidence))


def test_error_types_are_the_seven(story: Story) -> None:
    with pytest.raises(ValueError, match="error_type"):
        Proposal.model_validate(story.proposal(error_type="MemoryError"))
    offered = schema_of(Proposal).schema["properties"]["error_type"]["anyOf"][0]["enum"]
    assert offered == [str(kind) for kind in ErrorType]


def test_a_quote_is_found_with_other_white_space() -> None:
    assert find_quote("Mara moved to Leeds\n  in March.", "to Leeds in  March") == "to Leeds\n  in March"
    assert find_quote("Mara moved to Leeds.", "Mara moved to York") is None
    assert find_quote("a.b", "a b") is None
    assert find_quote("axb", "a.b") is None
    assert find_quote("anything", "  ") is None


@given(st.text(min_size=1, max_size=200), st.data())
def test_what_is_found_stands_in_the_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    part = text[start:end]
    found = find_quote(text, part)
    if part.strip():
        assert found is not None
        assert found in text
        assert found.split() == part.split()
    else:
        assert found is None
