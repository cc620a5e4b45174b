"""The record of a verdict on a failure: operation at fault, confidence, and the path that proves the verdict."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import msgspec

from attribution.verdicts.usage import Usage
from schema.damage import reading_stored
from schema.ids import make_id
from schema.kinds import ErrorType, QuestionKind
from schema.models import Attribution, Failure

MOST_PIECES = 8
"""The maximal number of pieces of an answer that are followed; the weightiest are taken."""

_FAILED = "failed"
"""The key in the details of an abstention whose attempt failed."""


class Method(StrEnum):
    """How a verdict is reached.

    WALK: flow, with a model's small judgements where flow is unsure. LLM: a model explores the graph. AUTO: walk, and
    then llm if walk is unsure and the model is good enough. ONESHOT: a model gets everything at once.
    """

    FLOW = "flow"
    WALK = "walk"
    LLM = "llm"
    AUTO = "auto"
    ONESHOT = "oneshot"


class Link(StrEnum):
    """How a step of a path follows from the step before.

    START: the first step. DERIVATION: the variable was derived from the variable before, by the step's operation.
    OPERATION: the step's operation used the variable before, or searched the store while that variable was current, and
    should have brought the detail into this step's variable, which the operation made.
    """

    START = "start"
    DERIVATION = "derivation"
    OPERATION = "operation"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path.

    Attributes:
        variable_id: the variable that has the detail, or should have it.
        operation_id: the operation that leads here from the step before.
        quote: a literal part of the variable's value; may be empty if the value lacks the detail.
        holds: whether the value has the needed detail.
    """

    variable_id: str
    operation_id: str | None
    link: Link
    quote: str
    holds: bool


@dataclass(frozen=True, slots=True)
class PieceLoss:
    """How far one piece of the needed content came.

    Attributes:
        piece: the piece, quoted from the evidence.
        error_type: None if the piece reached the answer, or could not be followed.
        operation_id: the operation that lost the piece; None if the piece reached the answer, or nobody knows.
        confidence: the probability of this result, 0 to 1.
        path: from the message that states the piece to the place where the piece ended.
        reached: whether the piece is in the answer.
    """

    piece: str
    error_type: ErrorType | None
    operation_id: str | None
    confidence: float
    reason: str
    path: tuple[Step, ...] = ()
    reached: bool = False


@dataclass(frozen=True, slots=True)
class CandidateVerdict:
    """Another possible explanation. The confidence is None for an explanation that a person would accept, too."""

    error_type: ErrorType
    operation_id: str | None
    confidence: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result for one failure. ``error_type`` None is an abstention, and the reason says why.

    Attributes:
        confidence: the probability that error type and operation are right, 0 to 1.
        path: from the evidence to the place where the detail was lost, or to the answer.
        candidates: other explanations, likeliest first.
        details: other facts: hashes of prompts, the used evidence, whether gold answers were used.
        losses: where each piece of what the answer needs ended, in the order of the pieces.
        question_kind: what the answer needs; None if unknown.
    """

    error_type: ErrorType | None
    operation_id: str | None
    confidence: float
    reason: str
    path: tuple[Step, ...] = ()
    candidates: tuple[CandidateVerdict, ...] = ()
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)
    losses: tuple[PieceLoss, ...] = ()
    question_kind: QuestionKind | None = None


def own_loss(verdict: Verdict) -> tuple[PieceLoss, ...]:
    """The only piece of a verdict without ``losses``: the evidence quoted by its path; empty without a path."""
    if verdict.error_type is None or not verdict.path:
        return ()
    reached = verdict.error_type is ErrorType.JUDGE
    piece, operation_id = verdict.path[0].quote, None if reached else verdict.operation_id
    return (
        PieceLoss(piece, verdict.error_type, operation_id, verdict.confidence, verdict.reason, verdict.path, reached),
    )


def abstention(reason: str, **more: Any) -> Verdict:
    """A verdict that names no error, with the reason."""
    return Verdict(None, None, 0.0, reason, **more)


def failed_attempt(reason: str) -> Verdict:
    """An abstention because the attempt itself failed: it says nothing about the failure, and is tried again."""
    return abstention(reason, details={_FAILED: True})


def has_failed(attribution: Attribution) -> bool:
    """Whether a stored abstention is a failed attempt; see ``failed_attempt``."""
    return (
        attribution.error_type is None
        and f'"{_FAILED}":' in attribution.attributes
        and msgspec.json.decode(attribution.attributes).get(_FAILED) is True
    )


def unsure(verdict: Verdict, least: float) -> Verdict:
    """An abstention in place of a verdict below the needed confidence; the verdict becomes the first candidate."""
    if verdict.error_type is None:
        return verdict
    first = CandidateVerdict(verdict.error_type, verdict.operation_id, verdict.confidence, verdict.reason)
    reason = (
        f"nothing is sure enough to be named ({verdict.confidence:.2f}, not {least:.2f}); the candidates are weighed"
    )
    return replace(
        verdict,
        error_type=None,
        operation_id=None,
        confidence=0.0,
        reason=reason,
        path=(),
        candidates=(first, *verdict.candidates),
    )


def attribution_id(failure_id: str, method: str, inputs: str) -> str:
    """The id of a method's verdict on some inputs (a hash); the same inputs give the same id."""
    return make_id("Attribution", failure_id, method, inputs)


def to_attribution(verdict: Verdict, failure: Failure, method: Method, inputs: str) -> Attribution:
    """The verdict as an element of the graph.

    Args:
        verdict: to store.
        failure: the subject of the verdict.
        method: how the verdict was reached.
        inputs: hash of everything that the verdict depends on.
    """
    details = verdict.details | {"inputs": inputs, "usage": asdict(verdict.usage)}
    return Attribution(
        id=attribution_id(failure.id, method, inputs),
        project_id=failure.project_id,
        trace_id=failure.trace_id,
        failure_id=failure.id,
        error_type=verdict.error_type,
        operation_id=verdict.operation_id,
        confidence=verdict.confidence,
        method=method,
        model=verdict.model,
        reason=verdict.reason,
        evidence=_encode([written(step) for step in verdict.path]),
        candidates=_encode([_candidate(candidate) for candidate in verdict.candidates]),
        tokens=verdict.usage.input_tokens + verdict.usage.output_tokens,
        cost=verdict.usage.cost,
        seconds=verdict.seconds,
        created_at=datetime.now(UTC),
        author=None,
        attributes=_encode(details),
        losses=_encode([_loss(one) for one in verdict.losses]),
        question_kind=verdict.question_kind,
    )


def from_attribution(attribution: Attribution) -> Verdict:
    """The verdict of an element of the graph. A verdict by a person may have no path."""
    with reading_stored(f"verdict {attribution.id}"):
        return _from_attribution(attribution)


def _from_attribution(attribution: Attribution) -> Verdict:
    details = msgspec.json.decode(attribution.attributes)
    return Verdict(
        error_type=attribution.error_type,
        operation_id=attribution.operation_id,
        confidence=attribution.confidence or 0.0,
        reason=attribution.reason or "",
        path=tuple(_read_step(step) for step in msgspec.json.decode(attribution.evidence)),
        candidates=tuple(_read_candidate(item) for item in msgspec.json.decode(attribution.candidates)),
        model=attribution.model,
        usage=Usage(**details.pop("usage", {})),
        seconds=attribution.seconds or 0.0,
        details=details,
        losses=tuple(_read_loss(item) for item in msgspec.json.decode(attribution.losses)),
        question_kind=attribution.question_kind,
    )


def written(step: Step) -> dict[str, Any]:
    """A step as JSON for the store."""
    return {
        "variableId": step.variable_id,
        "operationId": step.operation_id,
        "link": step.link,
        "quote": step.quote,
        "holds": step.holds,
    }


def _read_step(item: dict[str, Any]) -> Step:
    return Step(item["variableId"], item["operationId"], Link(item["link"]), item["quote"], item["holds"])


def _loss(loss: PieceLoss) -> dict[str, Any]:
    return {
        "piece": loss.piece,
        "errorType": loss.error_type,
        "operationId": loss.operation_id,
        "confidence": loss.confidence,
        "reason": loss.reason,
        "reached": loss.reached,
        "path": [written(step) for step in loss.path],
    }


def _read_loss(item: dict[str, Any]) -> PieceLoss:
    error_type = item["errorType"]
    return PieceLoss(
        item["piece"],
        None if error_type is None else ErrorType(error_type),
        item["operationId"],
        item["confidence"],
        item["reason"],
        tuple(map(_read_step, item["path"])),
        item["reached"],
    )


def _candidate(candidate: CandidateVerdict) -> dict[str, Any]:
    return {
        "errorType": candidate.error_type,
        "operationId": candidate.operation_id,
        "confidence": candidate.confidence,
        "reason": candidate.reason,
    }


def _read_candidate(item: dict[str, Any]) -> CandidateVerdict:
    return CandidateVerdict(ErrorType(item["errorType"]), item["operationId"], item["confidence"], item["reason"])


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()
