"""Replies that have the needed detail and are never stored: an output that nothing reads is a dead end."""

from __future__ import annotations

from dataclasses import replace

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.loss import Loss, goes_on
from schema.kinds import ErrorType, OperationKind

REASON = "the reply has the needed fact, and nothing was stored of it: it was lost between the reply and the store"
_ANSWERS = frozenset({OperationKind.GENERATION, OperationKind.RETRIEVAL, OperationKind.JUDGE})


async def not_stored(traced: FailureInTrace, loss: Loss) -> Loss:
    """The loss, said anew if the operation made a reply that has the detail and that nothing reads."""
    graph = traced.graph
    if graph.operations[loss.operation_id].kind in _ANSWERS:
        return loss
    ends = [made for made in graph.made(loss.operation_id) if made in traced.future and not goes_on(graph, made)]
    holders = await traced.holders(ends)
    if not holders:
        return loss
    reply = max(holders, key=lambda one: holders[one].score)
    return replace(loss, error_type=ErrorType.UPDATE, holder=reply, after=None, reason=REASON)
