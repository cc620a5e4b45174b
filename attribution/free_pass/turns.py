"""Histories that a program itself sends to a model: a message may be missing in a later prompt.

Nothing is recorded between two calls, so the first call without the message is no step that lost it. The call that
answered is: it was not given what the answer needed.
"""

from __future__ import annotations

from attribution.free_pass import proof_path as proof
from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.rules import Finding
from attribution.trace.graph import TraceGraph
from schema.kinds import STORED, TURN, ErrorType, OperationKind, VariableKind

_SURE = 0.93
_WRITTEN = frozenset({VariableKind.PROMPT, VariableKind.CONTEXT, VariableKind.OTHER})


def is_only_said(traced: FailureInTrace) -> bool:
    """Whether the detail's message was a turn of a conversation with a model, and no memory was made from it."""
    variables = traced.graph.variables
    message = variables[traced.detail.message_id]
    return message.category == TURN and not any(variables[one].kind in STORED for one in traced.future)


def no_longer_in_prompt(traced: FailureInTrace) -> Finding | None:
    """A finding if earlier calls of the conversation were given the message, and the call that answered was not.

    None if another call rewrote the history, for example into a summary: the detail is then followed into the summary.
    """
    graph, message = traced.graph, traced.detail.message_id
    answer = graph.variables[traced.failure.answer_id or ""]
    answering = graph.operations.get(answer.operation_id or "")
    if answering is None or answering.kind is not OperationKind.GENERATION or not is_only_said(traced):
        return None
    read = graph.used(answering.id)
    if message in read or _is_rewritten(graph, message, read):
        return None
    calls = [one for one in graph.users(message) if graph.operations[one].kind is OperationKind.GENERATION]
    calls = [one for one in calls if graph.operations[one].sequence < answering.sequence]
    chain = graph.path(message, answer.id)
    if not calls or not chain:
        return None
    given = "one earlier call was" if len(calls) == 1 else f"{len(calls):,} earlier calls were"
    reason = (
        f"no longer in the prompt: {given} given the message with the needed fact, and the call that answered was not; "
        "the program left it out of the history"
    )
    steps = tuple((derivation.target, derivation.operation_id) for derivation in chain)
    return Finding(
        ErrorType.DELETION, answering.id, _SURE, reason, lambda: proof.Proof(message, message, steps), is_local=True
    )


def _is_rewritten(graph: TraceGraph, message: str, read: list[str]) -> bool:
    """Whether a text that was read derives from the message, such as a summary, or a note that a tool returned."""
    written = [one for one in read if graph.variables[one].kind in _WRITTEN]
    return message in graph.past(written)
