"""Turns of an agent that keeps its memory by tools, at which the model wrote nothing of what the user said."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.free_pass import proof_path as proof
from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.loss import written_by
from attribution.free_pass.rules import Finding
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
