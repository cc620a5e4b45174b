"""Turns at which nothing was written of what the user said, although other turns wrote units."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.free_pass import proof_path as proof
from attribution.free_pass.dead_ends import REASON
from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.loss import written_by
from attribution.free_pass.rules import Finding
from attribution.free_pass.stood_in import is_reply_to_user
from attribution.trace.graph import TraceGraph
from schema.kinds import ErrorType, OperationKind, VariableKind

_LIKELY = 0.7
"""Likelihood: it is not recorded what the model would have had to remember."""


def nothing_written(traced: FailureInTrace, searches: Sequence[str]) -> Finding | None:
    """A finding if the model that was told the detail wrote nothing, and the memory was searched for the question.

    The model must have written units at other turns: otherwise the memory may be written by another step.

    Args:
        traced: the detail, which no unit has.
        searches: the retrieval operations that served the question.
    """
    graph, message = traced.graph, traced.detail.message_id
    told = [one for one in graph.users(message) if graph.operations[one].kind is OperationKind.GENERATION]
    if not searches or not told or any(written_by(graph, one) for one in told):
        return None
    reply = graph.operations[max(told, key=lambda one: graph.operations[one].sequence)]
    searched = graph.operations[searches[-1]].sequence
    others = (one for one in graph.operations.values() if one.kind is reply.kind and one.name == reply.name)
    if reply.sequence > searched or not any(written_by(graph, one.id) for one in others):
        return None
    made = [one for one in graph.made(reply.id) if graph.variables[one].kind is VariableKind.RESPONSE]
    then = tuple((one, reply.id) for one in made[:1])
    return Finding(
        ErrorType.EXTRACTION,
        reply.id,
        _LIKELY,
        "the model was told the needed fact and wrote nothing into the memory at this turn, as it did at other turns",
        lambda: proof.Proof(message, message, then),
    )


async def reply_not_stored(traced: FailureInTrace, searches: Sequence[str]) -> Finding | None:
    """A finding if a model's reply has the detail and no unit was made from it, as units were from other replies.

    Args:
        traced: the detail, which no unit has.
        searches: the retrieval operations that served the question.
    """
    graph = traced.graph
    if not searches:
        return None
    place = graph.operations[searches[-1]].sequence
    replies = [one for one in traced.future if _is_stored_elsewhere(graph, one) and graph.place(one) < place]
    holders = await traced.holders(replies)
    if not holders:
        return None
    reply = max(holders, key=graph.place)
    return Finding(
        ErrorType.UPDATE,
        graph.variables[reply].operation_id,
        _LIKELY,
        f"{REASON}, as it was of other replies",
        lambda: proof.Proof(traced.detail.message_id, reply),
    )


def _is_stored_elsewhere(graph: TraceGraph, variable_id: str) -> bool:
    """Whether a variable is a model's reply, not to a user, that wrote nothing, and other calls of the model wrote."""
    variable = graph.variables[variable_id]
    maker = graph.operations.get(variable.operation_id or "")
    if maker is None or maker.kind is not OperationKind.GENERATION or variable.kind is not VariableKind.RESPONSE:
        return False
    if is_reply_to_user(graph, [variable_id]) or written_by(graph, maker.id):
        return False
    others = (one for one in graph.operations.values() if one.kind is maker.kind and one.name == maker.name)
    return any(written_by(graph, one.id) for one in others)
