"""The types of arguments and results of a ``GraphStore``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from schema.kinds import DerivationKind
from schema.models import Derivation, Operation, Trace, Variable


class Label(StrEnum):
    """The labels of elements."""

    TRACE = "Trace"
    SESSION = "Session"
    OPERATION = "Operation"
    VARIABLE = "Variable"
    DERIVATION = "Derivation"
    FAILURE = "Failure"
    ATTRIBUTION = "Attribution"


IN_ORDER = (Label.SESSION, Label.OPERATION, Label.VARIABLE, Label.DERIVATION)
"""The labels of elements that have a place (``sequence``) in their trace."""


class Direction(StrEnum):
    """The direction of a walk. Backward: to the causes of a variable. Forward: to the effects of a variable."""

    BACKWARD = "backward"
    FORWARD = "forward"


class Edge(NamedTuple):
    """The ids of a derivation's ends and operation: ``target`` was derived from ``source`` by the operation."""

    source: str
    target: str
    operation_id: str
    kind: DerivationKind


@dataclass(frozen=True, slots=True)
class WriteResult:
    """How many elements of a batch were new, and how many were stored before, by label."""

    created: dict[str, int]
    existing: dict[str, int]


@dataclass(frozen=True, slots=True)
class Stored:
    """The stored part of a trace that a writer has to know.

    Attributes:
        trace: the trace; None if it does not exist or is not listed yet.
        next: the next free place (``sequence``) of sessions, operations, variables and derivations; 0 if none exists.
        elements: the requested elements that exist, by label and id.
    """

    trace: Trace | None
    next: Mapping[Label, int]
    elements: Mapping[Label, Mapping[str, Any]]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items in order, and the cursor of the next page; None on the last page."""

    items: list[T]
    next: str | None


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time. With a bound, what has no time is outside.

    Attributes:
        since: the first moment; None for no bound.
        until: the first moment after the end; None for no bound.
    """

    since: datetime | None = None
    until: datetime | None = None


ALWAYS = Span()


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of a closure; None means no bound. The roots are always part of the closure.

    Attributes:
        hops: at most this many derivations from a root to a variable.
        nodes: at most this many variables are visited, the roots included, the nearest first; at equal distance the
            newest first (backward) or the oldest first (forward).
        seconds: how long to walk.
        until: a place in the trace (``sequence``); variables with a later place are left out.
    """

    hops: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    until: int | None = None


NO_BUDGET = Budget()


@dataclass(frozen=True, slots=True)
class Closure:
    """The roots of a walk, with all their causes (backward) or all their effects (forward).

    Attributes:
        variables: in the order of the trace.
        derivations: the derivations between two of ``variables``, in the order of the trace.
        operations: the operations of ``derivations``, in the order of the trace.
        truncated: whether a bound of the budget ended the walk early.
        frontier: ids of visited variables with an unvisited neighbour; their closure continues the walk.
    """

    roots: list[str]
    direction: Direction
    variables: list[Variable]
    derivations: list[Derivation]
    operations: list[Operation]
    truncated: bool
    frontier: list[str]


@dataclass(frozen=True, slots=True)
class Path:
    """A chain of derivations, from the dependent variable to its cause; empty if the variables are not connected."""

    variables: list[Variable]
    derivations: list[Derivation]


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A variable that contains the searched words. A higher score is better; engines score on different scales."""

    variable: Variable
    score: float
    snippet: str


@dataclass(frozen=True, slots=True)
class ScanResult:
    """Hits of a scan over whole values, in the order of the trace; ``truncated`` if a bound ended the scan early."""

    hits: list[SearchHit]
    truncated: bool
    scanned_bytes: int


@dataclass(frozen=True, slots=True)
class OperationDetail:
    """An operation with its used, generated and invalidated variables, each list in order."""

    operation: Operation
    used: list[Variable]
    generated: list[Variable]
    invalidated: list[Variable]


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts by label and by kind, sizes in bytes (None if unknown to the engine), and the number of right answers."""

    labels: dict[str, int]
    kinds: dict[str, dict[str, int]]
    value_bytes: int | None = None
    graph_bytes: int | None = None
    total_bytes: int | None = None
    right_answers: int = 0


@dataclass(frozen=True, slots=True)
class FailureFilter:
    """Selects failures: each condition that is not None must hold.

    The conditions from ``method`` to ``max_confidence`` are about verdicts: one verdict on the failure must meet all. A
    verdict does not count if a newer one of the same method and model replaced it, neither here nor for the order.

    Attributes:
        text: part of the question, the prediction or a gold answer; upper and lower case are the same.
        labelled: whether a person has given a verdict.
        method: the verdict's method.
        error_type: the verdict's error type.
        abstained: whether the verdict names no error type.
        operation: the name of the blamed operation, or its category or kind if it has no name.
        question_kind: the verdict's kind of question.
        min_confidence: the least confidence, from 0 to 1; a verdict without a confidence never fits.
        max_confidence: the greatest confidence, likewise.
        since: the failure was recorded (``created_at``) at this time or later.
        until: the failure was recorded before this time.
        without: ids of failures to leave out.
    """

    text: str | None = None
    labelled: bool | None = None
    method: str | None = None
    error_type: str | None = None
    abstained: bool | None = None
    operation: str | None = None
    question_kind: str | None = None
    min_confidence: float | None = None
    max_confidence: float | None = None
    since: datetime | None = None
    until: datetime | None = None
    without: frozenset[str] = frozenset()

    @property
    def asks_verdicts(self) -> bool:
        """Whether a condition is about verdicts, so that failures without a verdict are left out."""
        wanted = (
            self.method,
            self.error_type,
            self.abstained,
            self.operation,
            self.question_kind,
            self.min_confidence,
            self.max_confidence,
        )
        return any(one is not None for one in wanted)


ALL_FAILURES = FailureFilter()


class FailureKey(StrEnum):
    """The key by which failures are sorted.

    ``time`` is when the failure was recorded. The other keys come from the verdicts: confidence, error type, and the
    name of the blamed operation (or its category or kind if it has no name).
    """

    TIME = "time"
    CONFIDENCE = "confidence"
    ERROR_TYPE = "errorType"
    OPERATION = "operation"

    @property
    def is_of_verdicts(self) -> bool:
        """Whether the key comes from the verdicts."""
        return self is not FailureKey.TIME


@dataclass(frozen=True, slots=True)
class FailureOrder:
    """The order in which failures are listed.

    A failure with several verdicts that fit the filter is listed once, at the first of their places. Failures without
    a key come last in both directions. Failures with equal keys are ordered by id, in the same direction. Texts are
    compared by Unicode code points.
    """

    by: FailureKey
    descending: bool = False


@dataclass(frozen=True, slots=True)
class VerdictGroup:
    """How many failures have a verdict with this method, error type and blamed operation.

    Attributes:
        error_type: None is an abstention.
        operation: the operation's name, or its category or kind if it has no name; None if no operation is blamed.
    """

    method: str
    error_type: str | None
    operation: str | None
    failures: int


def in_order_of_size(groups: Iterable[VerdictGroup]) -> list[VerdictGroup]:
    """Groups by size, the largest first; groups of equal size by method, error type and operation."""
    return sorted(groups, key=lambda one: (-one.failures, one.method, one.error_type or "", one.operation or ""))


@dataclass(frozen=True, slots=True)
class Activity:
    """The operations of one kind and status in one stretch of a trace.

    Attributes:
        number: of the stretch, from 0.
        count: how many operations.
        seconds: the sum of the recorded durations.
        last: the latest recorded start or end; None if no time is recorded.
    """

    number: int
    kind: str
    status: str
    count: int
    seconds: float
    last: datetime | None


@dataclass(frozen=True, slots=True)
class Period:
    """How many elements of a project were created (``created_at``) in one stretch of time.

    Attributes:
        start: the first moment of the stretch.
        traces: number of traces.
        failures: number of failures.
        verdicts: number of attributions by error type; ``""`` stands for abstentions.
    """

    start: datetime
    traces: int
    failures: int
    verdicts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Health:
    """The findings of ``doctor`` about a database; ``problems`` is empty if all is well."""

    engine: str
    version: str
    details: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
