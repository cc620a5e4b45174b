"""Checks a model's proposal for each piece of what the answer needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from attribution.llm.agent.check import checked, claimed
from attribution.llm.agent.proposal import Proposal, ProposedPiece
from attribution.llm.agent.view import FailureView
from attribution.llm.transport.schemas import Rejected
from attribution.verdicts.verdict import MOST_PIECES, PieceLoss, Verdict
from schema.kinds import NOT_THE_MEMORY, ErrorType

_REASON = 2_000
_Blame = tuple[ErrorType, str]


async def checked_with_pieces(view: FailureView, proposal: Proposal) -> Verdict:
    """The verdict of a valid proposal, with the ending of each piece.

    The verdict must blame the operation that lost most pieces; of several, the earliest.

    Raises:
        Rejected: the proposal is invalid; its problems say why.
    """
    verdict = await checked(view, proposal)
    if verdict.error_type is None or not proposal.pieces:
        return verdict
    if len(proposal.pieces) > MOST_PIECES:
        raise Rejected(f"pieces: at most {MOST_PIECES}, those that weigh most")
    losses: list[PieceLoss] = []
    problems: list[str] = []
    for number, piece in enumerate(proposal.pieces):
        loss, found = await _loss(view, piece)
        losses.append(loss)
        problems += [f"pieces.{number}.{problem}" for problem in found]
    if not problems:
        problems = _contradiction(view, verdict, losses)
    if problems:
        raise Rejected(*problems)
    return replace(verdict, losses=tuple(losses))


async def _loss(view: FailureView, piece: ProposedPiece) -> tuple[PieceLoss, list[str]]:
    """The ending of a piece, and the problems of the claim."""
    claim = await claimed(view, piece.error_type, piece.operation, piece.steps)
    problems = list(claim.problems)
    if piece.error_type in NOT_THE_MEMORY:
        problems.append(f"error_type: no piece is lost by {piece.error_type}")
    if piece.reached and piece.error_type is not None:
        problems.append("reached: a piece that reached the answer was not lost: leave error_type and operation null")
    if piece.error_type is None and piece.operation is not None:
        problems.append("operation: leave it null where nothing is blamed")
    if not piece.reason.strip():
        problems.append("reason: say why")
    quote = claim.path[0].quote if claim.path else ""
    if not problems and not quote:
        problems.append("steps.0: quote the message that tells the piece")
    operation_id = claim.operation.id if claim.operation else None
    reason = piece.reason.strip()[:_REASON]
    loss = PieceLoss(
        quote, piece.error_type, operation_id, piece.confidence, reason, tuple(claim.path), reached=piece.reached
    )
    return loss, problems


def _contradiction(view: FailureView, verdict: Verdict, losses: Sequence[PieceLoss]) -> list[str]:
    """Why the verdict contradicts the endings of the pieces; empty if it does not."""
    counts: Counter[_Blame] = Counter(
        (one.error_type, one.operation_id) for one in losses if one.error_type and one.operation_id
    )
    if not counts or verdict.error_type in NOT_THE_MEMORY:
        return []
    operations = view.graph.operations
    most = min(counts, key=lambda blame: (-counts[blame], operations[blame[1]].sequence))
    if most == (verdict.error_type, verdict.operation_id):
        return []
    shown = view.operation_alias(most[1])
    lost = f"which lost {counts[most]} of {len(losses)} (of several that lost as many, the earliest)"
    return [f"operation: by your pieces it is {most[0]} at {shown}, {lost}"]
