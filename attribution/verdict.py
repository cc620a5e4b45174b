"""A verdict on a failure: which operation is at fault, how sure that is, and the path that proves it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import msgspec

from schema.ids import make_id
from schema.kinds import ErrorType
from schema.models import Attribution, Failure


class Method(StrEnum):
    """How a verdict is reached; ``auto`` is flow first, then the model only where flow is unsure."""

    FLOW = "flow"
    LLM = "llm"
    AUTO = "auto"
    ONESHOT = "oneshot"


class Link(StrEnum):
    """How a step of a path follows from the one before.

    START: it doesn't: it is the first. DERIVATION: its variable was derived from the one before, by its operation.
    OPERATION: its operation had the variable before at hand (used it, or searched the store while it was current) and
    should have brought the detail into this step's variable, which it made.
    """

    START = "start"
    DERIVATION = "derivation"
    OPERATION = "operation"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path.

    Attributes:
        variable_id: where the detail is, or should be.
        operation_id: the operation that leads here from the step before.
        quote: a part of the variable's value, as it stands there; may be empty where the detail is not.
        holds: whether the needed detail is there.
    """

    variable_id: str
    operation_id: str | None
    link: Link
    quote: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """Another explanation that was weighed, or that a person would accept; then its confidence is None."""

    error_type: ErrorType
    operation_id: str | None
    confidence: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What models cost: tokens, calls, money (in the currency of the prices that were set)."""

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    cost: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.calls + other.calls,
            self.cost + other.cost,
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found out about one failure. ``error_type`` None is an abstention, whose reason says why.

    Attributes:
        confidence: the probability that error type and operation are right, 0 to 1.
        path: from the evidence to where it was lost, or to the answer.
        candidates: other explanations, likeliest first.
        details: what else belongs to it: hashes of prompts, evidence that was used, whether gold answers were.
    """

    error_type: ErrorType | None
    operation_id: str | None
    confidence: float
    reason: str
    path: tuple[Step, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    model: str | None = None
    usage: Usage = Usage()
    seconds: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)


def abstention(reason: str, **more: Any) -> Verdict:
    """A verdict that names nothing, and says why."""
    return Verdict(None, None, 0.0, reason, **more)


def attribution_id(failure_id: str, method: str, inputs: str) -> str:
    """The id of the verdict that a method gives from some inputs (a hash): the same inputs, the same id."""
    return make_id("Attribution", failure_id, method, inputs)


def to_attribution(verdict: Verdict, failure: Failure, method: Method, inputs: str) -> Attribution:
    """The verdict as an element of the graph.

    Args:
        verdict: what was found out.
        failure: what it is about.
        method: how it was found out.
        inputs: hash of all that the verdict depends on.
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
    )


def from_attribution(attribution: Attribution) -> Verdict:
    """The verdict that an element of the graph holds; one by a person may have no path."""
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
    )


def written(step: Step) -> dict[str, Any]:
    """A step as it is stored."""
    return {
        "variableId": step.variable_id,
        "operationId": step.operation_id,
        "link": step.link,
        "quote": step.quote,
        "holds": step.holds,
    }


def _read_step(item: dict[str, Any]) -> Step:
    return Step(item["variableId"], item["operationId"], Link(item["link"]), item["quote"], item["holds"])


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "errorType": candidate.error_type,
        "operationId": candidate.operation_id,
        "confidence": candidate.confidence,
        "reason": candidate.reason,
    }


def _read_candidate(item: dict[str, Any]) -> Candidate:
    return Candidate(ErrorType(item["errorType"]), item["operationId"], item["confidence"], item["reason"])


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()
