"""Histories that a program itself sends to a model: a message may be missing in a later prompt.

Nothing is recorded between two calls, so the first call without the message is no step that lost it. The call that
answered is: it was not given what the answer needed.
"""

from __future__ import annotations

from collections.abc import Iterable

from attribution.free_pass import proof_path as proof
from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.rules import Finding
from attribution.trace.graph import TraceGraph
from attribution.trace.kept_unseen import kept_unseen
from schema.kinds import STORED, TURN, ErrorType, OperationKind, VariableKind

_SURE = 0.93
_NOT_SENT = 0.7
"""Lower: code that is not recorded may have searched a memory and found nothing."""
_HISTORY = frozenset({VariableKind.MESSAGE, VariableKind.QUERY, VariableKind.ANSWER, VariableKind.RESPONSE})
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


async def never_sent(traced: FailureInTrace) -> Finding | None:
    """A finding if an earlier call was given the message, and the request that answered has turns of the user alone.

    A program may forget to send its history, or go on from an older response. None if anything shows a memory: a text
    that the program wrote for the answer from others, what a tool returned, a search, or a reply with the detail.
    """
    graph, message = traced.graph, traced.detail.message_id
    answer = graph.variables[traced.failure.answer_id or ""]
    answering = graph.operations.get(answer.operation_id or "")
    if answering is None or answering.kind is not OperationKind.GENERATION or not is_only_said(traced):
        return None
    past = graph.past([answer.id])
    if message in past or any(graph.operations[one].kind is OperationKind.RETRIEVAL for one in _makers(graph, past)):
        return None
    read = [graph.variables[one] for one in graph.used(answering.id)]
    sent = [one for one in read if not (one.kind is VariableKind.PROMPT and not graph.parents(one.id))]
    calls = [one for one in graph.users(message) if graph.operations[one].kind is OperationKind.GENERATION]
    calls = [one for one in calls if graph.operations[one].sequence < answering.sequence]
    replies = [reply for call in calls for reply in graph.made(call)]
    if not calls or any(one.kind not in _HISTORY for one in sent):
        return None
    if await traced.holders(replies) or kept_unseen(graph) is not None:
        return None
    reason = (
        "not in the request: an earlier call was given the message with the needed fact, and the request that answered "
        "has neither the message nor a text that was made from it; the program did not send it again"
    )
    return Finding(
        ErrorType.DELETION, answering.id, _NOT_SENT, reason, lambda: proof.of_message(message, ""), is_local=True
    )


def _makers(graph: TraceGraph, variables: Iterable[str]) -> set[str]:
    """The operations that made some variables."""
    return {maker for one in variables if (maker := graph.variables[one].operation_id) is not None}


def _is_rewritten(graph: TraceGraph, message: str, read: list[str]) -> bool:
    """Whether a text that was read derives from the message, such as a summary, or a note that a tool returned."""
    written = [one for one in read if graph.variables[one].kind in _WRITTEN]
    return message in graph.past(written)
