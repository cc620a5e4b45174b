"""Answers that say what a memory unit told: the way into the memory is to blame, and not a history that was cut."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from attribution.free_pass import proof_path as proof
from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.loss import Loss, loss_at
from attribution.free_pass.rules import Finding, lost
from attribution.needed.content import share_found
from attribution.needed.exclusion import excludes
from attribution.text.refusals import refuses
from attribution.text.said import said
from attribution.text.segments import passage
from attribution.trace.fixes import RECORD_TOGETHER
from attribution.trace.graph import TraceGraph
from schema.kinds import ErrorType, VariableKind

_WHOLLY = 0.9
_ABOUT = 0.4
"""A unit with at least this share of the question is on its topic."""
_LIKELY = 0.85
_SHOWN = 100
"""The number of characters shown of a unit."""


async def wrong_in_memory(traced: FailureInTrace, past: AbstractSet[str], cut: str) -> Finding | None:
    """The operation on the way from the message to a unit that tells the given answer.

    If the unit was not made from the message, as far as the recording tells, the finding has a hole.

    Args:
        traced: the detail.
        past: the backward closure of the answer.
        cut: the operation that left the detail out of the history.
    """
    graph, failure = traced.graph, traced.failure
    unit = await _telling(traced, past)
    if unit is None:
        return None
    chain = graph.path(traced.detail.message_id, unit)
    holders = await traced.holders(one.target for one in chain)
    step = next((one for one in chain if one.target not in holders), None)
    loss = None if step is None else loss_at(graph, step.operation_id, step.source)
    if loss is not None and not any(
        graph.variables[one].kind is VariableKind.BUFFER for one in graph.made(loss.operation_id)
    ):
        return await lost(
            traced, Loss(loss.error_type, loss.operation_id, loss.holder, loss.after, _LIKELY, loss.reason)
        )
    text = said(graph.variables[unit].preview, _SHOWN)
    hole = (
        f"the answer says what the memory told it (“{text}”), and the recording does not show that this unit was made "
        f"from the message with the needed fact: {RECORD_TOGETHER}"
    )
    reason = "the operation left the needed fact out of the history"
    return Finding(
        ErrorType.DELETION,
        cut,
        _LIKELY,
        reason,
        lambda: proof.of_message_to_answer(graph, failure, traced.detail.message_id, traced.detail.quote),
        hole=hole,
    )


async def _telling(traced: FailureInTrace, past: AbstractSet[str]) -> str | None:
    """The unit in the answer's past that is most about the question, with a sentence that tells the given answer.

    The given answer must exclude the needed fact, as another number, day or member of a class.
    """
    graph, messages, failure = traced.graph, traced.messages, traced.failure
    claim = messages.claim(failure, traced.detail.reference)
    if not claim.weight or refuses(failure.prediction or "") or not excludes(failure, traced.detail.core, claim):
        return None
    asked = set(messages.asked(failure).words)
    units = [one for one in past if _is_unit(graph, one)]
    texts = await graph.texts(units)
    telling: list[tuple[int, int, str]] = []
    for one in units:
        for placed in passage(texts[one], traced.detail.reference):
            about = len(asked & set(placed.sentence.stems))
            if about >= _ABOUT * len(asked) and share_found(claim, placed) >= _WHOLLY:
                telling.append((about, graph.variables[one].sequence, one))
    return max(telling, default=(0, 0, None))[2]


def _is_unit(graph: TraceGraph, variable_id: str) -> bool:
    return graph.variables[variable_id].kind is VariableKind.MEMORY_UNIT
