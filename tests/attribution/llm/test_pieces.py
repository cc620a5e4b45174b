"""What a model says of each piece: told before, checked after, and stored as the losses of the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attribution.free_pass.proof_path import problems
from attribution.llm.agent.pieces import checked_with_pieces
from attribution.llm.agent.proposal import Proposal
from attribution.llm.transport.schemas import Rejected
from attribution.run import Options, attribute
from attribution.verdicts.verdict import Link, Method, PieceLoss, Step, Verdict, from_attribution
from schema.kinds import ErrorType
from store.shared.references import losses
from tests.attribution.llm.conftest import Clients
from tests.attribution.llm.judging import judging, kind_of
from tests.attribution.llm.story import Story
from tests.llm_server import LlmServer, Request, call, give, say


def _piece(
    story: Story, error_type: str | None, operation: str | None, *steps: tuple[str, str, bool], **more: Any
) -> Any:
    piece = {
        "error_type": error_type,
        "operation": operation and story.op(operation),
        "reached": False,
        "confidence": 0.8,
        "reason": "It is gone.",
        "steps": [{"variable": story.v(name), "quote": quote, "holds": holds} for name, quote, holds in steps],
    }
    return piece | more


def _month(story: Story) -> Any:
    steps = ("message", "March 2025", True), ("unit", "in March 2025", True), ("newer", "moved to Leeds", False)
    return _piece(story, "UpdateError", "update", *steps)


def _sister(story: Story) -> Any:
    steps = ("message", "my sister stayed in York", True), ("sister", "lives in York", True)
    return _piece(story, "RetrievalError", "search-0", *steps)


def _town(story: Story) -> Any:
    return _piece(story, None, None, ("message", "I moved to Leeds", True), reached=True)


async def _check(story: Story, *pieces: Any, **changes: Any) -> Verdict:
    proposal = Proposal.model_validate(story.proposal(pieces=list(pieces), **changes))
    verdict = await checked_with_pieces(story.case, proposal)
    assert await problems(verdict, story.graph) == []
    return verdict


async def _problems(story: Story, *pieces: Any, **changes: Any) -> list[str]:
    with pytest.raises(Rejected) as caught:
        await _check(story, *pieces, **changes)
    return caught.value.problems


async def test_each_piece_has_a_loss_with_its_path(story: Story) -> None:
    verdict = await _check(story, _month(story), _month(story), _sister(story), _town(story))
    assert verdict.operation_id == story.operations["update"].id
    month, _, sister, town = verdict.losses
    assert (month.piece, month.error_type, month.operation_id) == (
        "March 2025",
        ErrorType.UPDATE,
        story.operations["update"].id,
    )
    assert len(month.path) == 3
    assert (sister.piece, sister.error_type, sister.operation_id, sister.confidence) == (
        "my sister stayed in York",
        ErrorType.RETRIEVAL,
        story.operations["search-0"].id,
        0.8,
    )
    message = story.variables["message"].id
    start = Step(message, None, Link.START, "I moved to Leeds", holds=True)
    assert town == PieceLoss("I moved to Leeds", None, None, 0.8, "It is gone.", (start,), reached=True)


async def test_a_proposal_without_pieces_has_no_losses_of_its_own(story: Story) -> None:
    assert (await _check(story)).losses == ()


async def test_the_verdict_follows_from_the_pieces(story: Story) -> None:
    (most,) = await _problems(story, _sister(story), _sister(story), _month(story))
    assert f"it is RetrievalError at {story.op('search-0')}, which lost 2 of 3" in most
    # Of several that lost as many, the earliest: the update, whatever the order of the pieces.
    assert (await _check(story, _sister(story), _month(story))).error_type is ErrorType.UPDATE
    steps = _sister(story)["steps"]
    (tie,) = await _problems(
        story, _sister(story), _month(story), error_type="RetrievalError", operation=story.op("search-0"), steps=steps
    )
    assert f"it is UpdateError at {story.op('update')}" in tie


async def test_a_wrong_gold_answer_need_not_follow_from_the_pieces(story: Story) -> None:
    verdict = await _check(story, _month(story), error_type="AnnotationError", operation=None)
    assert verdict.error_type is ErrorType.ANNOTATION
    assert len(verdict.losses) == 1


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"operation": "op999"}, "operation: there is no operation 'op999'"),
        ({"operation": None}, "operation: UpdateError needs the operation at fault"),
        ({"error_type": "AnnotationError", "operation": None}, "error_type: no piece is lost by AnnotationError"),
        ({"reached": True}, "reached: a piece that reached the answer was not lost"),
        ({"error_type": None}, "operation: leave it null where nothing is blamed"),
        ({"reason": " "}, "reason: say why"),
        ({"steps": []}, "steps: cite at least one variable"),
    ],
)
async def test_a_piece_that_can_not_stand_is_rejected(story: Story, changes: dict[str, Any], problem: str) -> None:
    found = await _problems(story, _town(story), _month(story) | changes)
    assert any(one.startswith(f"pieces.1.{problem}") for one in found)


async def test_a_quote_of_a_piece_must_stand_in_the_value(story: Story) -> None:
    piece = _month(story)
    piece["steps"][0]["quote"] = "in May 2031"
    found = await _problems(story, piece)
    assert any(one.startswith("pieces.0.steps.0: the quote does not stand in") for one in found)


async def test_more_pieces_than_are_followed_are_rejected(story: Story) -> None:
    assert await _problems(story, *[_month(story)] * 9) == ["pieces: at most 8, those that weigh most"]


def _told(request: Request) -> dict[str, Any]:
    document = json.loads(request.messages[1]["content"].partition("<data>")[2].partition("</data>")[0])
    failure: dict[str, Any] = document["failure"]
    return failure


@pytest.mark.parametrize("method", [Method.LLM, Method.ONESHOT, Method.AUTO])
async def test_every_method_is_told_the_pieces_and_stores_losses(
    clients: Clients, server: LlmServer, story: Story, tmp_path: Path, method: Method
) -> None:
    proposal = story.proposal(pieces=[_month(story), _sister(story)])

    def reply(request: Request) -> Any:
        if "tools" in request.body:
            return call(("propose_verdict", proposal))
        return judge(request) if kind_of(request) else give(proposal)

    judge = judging(lambda kind, data: say("I can't tell."))
    server.script(reply, repeat=True)
    unsure = method is Method.AUTO  # without gold answers the free pass always is, and asks the model
    options = Options(method=method, gold_free=unsure, llm=clients.settings(), replies=tmp_path, concurrency=1)
    (outcome,) = [one async for one in attribute(story.graph.store, [story.failure], options)]
    told = _told(next(one for one in server.requests if '"gold_answers"' in one.messages[1]["content"]))
    assert told["kind"] == "plain"
    assert [one["variable"] for one in told["pieces"]] == [story.v("message")]
    assert "March 2025" in told["pieces"][0]["quote"]
    verdict = from_attribution(outcome.attribution)
    assert [loss.piece for loss in verdict.losses] == ["March 2025", "my sister stayed in York"]
    assert [loss["operationId"] for loss in losses(outcome.attribution)] == [
        story.operations["update"].id,
        story.operations["search-0"].id,
    ]


async def test_a_model_that_names_one_fault_has_one_loss(
    clients: Clients, server: LlmServer, story: Story, tmp_path: Path
) -> None:
    server.script(call(("propose_verdict", story.proposal())))
    options = Options(method=Method.LLM, llm=clients.settings(), replies=tmp_path, concurrency=1)
    (outcome,) = [one async for one in attribute(story.graph.store, [story.failure], options)]
    (loss,) = from_attribution(outcome.attribution).losses
    assert (loss.piece, loss.operation_id) == ("March 2025", story.operations["update"].id)


async def test_without_gold_answers_the_pieces_tell_none(
    clients: Clients, server: LlmServer, story: Story, tmp_path: Path
) -> None:
    server.script(call(("propose_verdict", story.proposal())))
    options = Options(method=Method.LLM, gold_free=True, llm=clients.settings(), replies=tmp_path, concurrency=1)
    _ = [one async for one in attribute(story.graph.store, [story.failure], options)]
    told = _told(server.requests[0])
    assert told["gold_answers"] == "unknown"
    assert [one["variable"] for one in told["pieces"]] == [story.v("message")]
