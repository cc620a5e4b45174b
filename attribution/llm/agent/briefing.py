"""The first message to a model: the failure, the trace, and the free pass's verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attribution.llm.agent.rendering import clip, listed
from attribution.llm.agent.view import FailureView
from attribution.needed.question import form
from attribution.verdicts.verdict import Step, Verdict

_TEXT = 2_000
_EVIDENCE = 1_500
_MOST_EVIDENCE = 20
_PIECE = 500
_GROUPS = 40
_CANDIDATES = 12
_TRIED = 100
"""The number of operations of a group that are tried for candidates: it takes time to see which question one served."""
_STEPS = 20


async def describe_failure(view: FailureView) -> dict[str, Any]:
    """The question, the given and the gold answers, the evidence, and the pieces that the answer needed."""
    failure, graph = view.failure, view.graph
    texts = await graph.texts(view.evidence[:_MOST_EVIDENCE])
    document: dict[str, Any] = {
        "question": clip(failure.question, _TEXT),
        "answer": clip(failure.prediction, _TEXT),
        "kind": form(failure),
        "gold_answers": [clip(gold, _TEXT) for gold in failure.gold_answers[:_STEPS]] or "unknown",
        "evidence": [
            {"variable": view.variable_alias(one), "value": clip(texts[one], _EVIDENCE)}
            for one in view.evidence[:_MOST_EVIDENCE]
        ],
    }
    if view.pieces:
        document["pieces"] = [
            {"variable": view.variable_alias(one.message_id), "quote": clip(one.quote, _PIECE)} for one in view.pieces
        ]
    for name, variable_id in (("question_variable", failure.question_id), ("answer_variable", failure.answer_id)):
        if variable_id in graph.variables:
            document[name] = view.variable_alias(variable_id)
    if len(view.evidence) > _MOST_EVIDENCE:
        document["more_evidence"] = [view.variable_alias(one) for one in view.evidence[_MOST_EVIDENCE:][:_GROUPS]]
    return document


def describe_trace(view: FailureView) -> dict[str, Any]:
    """The numbers of elements of the trace, and the operations by name.

    Candidates are the short names of those that had to do with the answer, the question or the evidence.
    """
    groups: dict[tuple[str, str | None], list[str]] = {}
    for operation in view.graph.operations.values():
        groups.setdefault((operation.kind, operation.name), []).append(operation.id)

    def show(group: tuple[tuple[str, str | None], list[str]]) -> dict[str, Any]:
        (kind, name), ids = group
        first, last = view.operation_alias(ids[0]), view.operation_alias(ids[-1])
        document = {"kind": kind, "name": clip(name, 80), "count": len(ids), "first": first, "last": last}
        tried = [one for one in ids if one in view.near][-_TRIED:]
        near = [one for one in tried if not view.serves_another(view.graph.operations[one])]
        return document | {"candidates": listed(near, _CANDIDATES, view.operation_alias)}

    return {"variables": len(view.graph.variables), "operations": listed(list(groups.items()), _GROUPS, show)}


def describe_hint(view: FailureView, hint: Verdict) -> dict[str, Any]:
    """The verdict of the free pass."""

    def operation(operation_id: str | None) -> str | None:
        return view.operation_alias(operation_id) if operation_id in view.graph.operations else None

    return {
        "error_type": hint.error_type,
        "operation": operation(hint.operation_id),
        "confidence": round(hint.confidence, 2),
        "reason": clip(hint.reason, _TEXT),
        "steps": [
            {"variable": view.variable_alias(step.variable_id), "holds": step.holds, "quote": clip(step.quote, 300)}
            for step in _turning_points(hint.path)[-_STEPS:]
            if step.variable_id in view.graph.variables and view.may_show(step.variable_id)
        ],
        "pieces": [
            {
                "piece": clip(one.piece, 300),
                "error_type": one.error_type,
                "operation": operation(one.operation_id),
                "reached": one.reached,
                "confidence": round(one.confidence, 2),
            }
            for one in hint.losses
        ],
        "alternatives": [
            {
                "error_type": one.error_type,
                "operation": operation(one.operation_id),
                "confidence": None if one.confidence is None else round(one.confidence, 2),
                "reason": clip(one.reason, 300),
            }
            for one in hint.candidates[:10]
        ],
    }


def _turning_points(path: Sequence[Step]) -> list[Step]:
    """The ends of a path, and the steps where the detail is lost or found again."""
    last = len(path) - 1
    return [
        step
        for number, step in enumerate(path)
        if number in {0, last} or step.holds != path[number - 1].holds or step.holds != path[number + 1].holds
    ]
