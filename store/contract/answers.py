"""The types in which stores are asked and answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from schema.kinds import DerivationKind
from schema.models import Derivation, Operation, Trace, Variable


class Label(StrEnum):
    """The labels of elements that have an id."""

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
    """The direction of a walk. Backward: what something depends on. Forward: what depends on it."""

    BACKWARD = "backward"
    FORWARD = "forward"


class Edge(NamedTuple):
    """A derivation as what it joins: ``target`` was derived from ``source`` by an operation."""

    source: str
    target: str
    operation_id: str
    kind: DerivationKind


@dataclass(frozen=True, slots=True)
class WriteResult:
    """How many elements a write added, and how many were there already, by label."""

    created: dict[str, int]
    existing: dict[str, int]


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored of a trace, as far as it was asked for.

    Attributes:
        trace: the trace; None where there is none, or where it is not listed yet.
        next: the next free place of sessions, operations, variables and derivations; 0 where there are none.
        elements: those that were asked for and exist, by label and id.
    """

    trace: Trace | None
    next: Mapping[Label, int]
    elements: Mapping[Label, Mapping[str, Any]]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some elements in order, and the cursor of the next page; None on the last page."""

    items: list[T]
    next: str | None


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of a closure; None means no bound.

    Attributes:
        hops: at most this many derivations from a root to a variable.
        nodes: at most this many variables are visited, the nearest first; of those at one distance, the newest first
            (backward) or the oldest first (forward). The roots count too, and are always part of the closure.
        seconds: how long to walk.
        until: a place in the trace (a variable's ``sequence``): what came later is left out, as though it had not
            happened yet. The roots are always part of the closure.
    """

    hops: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    until: int | None = None


NO_BUDGET = Budget()


@dataclass(frozen=True, slots=True)
class Closure:
    """All that the roots causally depend on, or all that depends on them; the roots are part of it.

    Attributes:
        variables: in the order of the trace.
        derivations: those between two of ``variables``, in the order of the trace.
        operations: those of ``derivations``, in the order of the trace.
        truncated: whether a bound has cut it short.
        frontier: visited variables with a neighbour that was not visited; ask for their closure to continue.
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
    """A shortest chain of derivations, from the dependent variable to what it depends on; empty where there is none."""

    variables: list[Variable]
    derivations: list[Derivation]


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A variable that contains the words. A higher score is better; scores of different engines can't be compared."""

    variable: Variable
    score: float
    snippet: str


@dataclass(frozen=True, slots=True)
class ScanResult:
    """Hits of a scan over whole values, in the order of the trace; ``truncated`` if a bound ended it early."""

    hits: list[SearchHit]
    truncated: bool
    scanned_bytes: int


@dataclass(frozen=True, slots=True)
class OperationDetail:
    """An operation with the variables that it used, made and ended, each in order."""

    operation: Operation
    used: list[Variable]
    generated: list[Variable]
    invalidated: list[Variable]


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts by label and by kind, sizes in bytes (None where the engine can't tell), and right answers."""

    labels: dict[str, int]
    kinds: dict[str, dict[str, int]]
    value_bytes: int | None = None
    graph_bytes: int | None = None
    total_bytes: int | None = None
    right_answers: int = 0


@dataclass(frozen=True, slots=True)
class FailureFilter:
    """Which failures are wanted: those to which all that is not None applies.

    Attributes:
        text: stands in the question, the answer that was given or a gold answer, in any case of letters.
        labelled: whether a person has given a verdict.
        method: of one of their verdicts. This and what follows must apply to one and the same verdict.
        error_type: of the verdict.
        abstained: whether the verdict names no error type.
        operation: the name of the operation that the verdict blames; its category or kind where it has no name.
        question_kind: what the answer needs, as the verdict says.
        min_confidence: the least confidence of the verdict, from 0 to 1; a verdict without one is out.
        max_confidence: the greatest, likewise.
        without: ids of failures that are out whatever applies to them.
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
    without: frozenset[str] = frozenset()

    @property
    def asks_verdicts(self) -> bool:
        """Whether failures without a verdict are out."""
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
    """By what failures are sorted.

    ``time`` is when the failure was recorded. The others are what its verdicts say: their confidence, the error type,
    and the name of the operation that is blamed (its category or kind where it has no name).
    """

    TIME = "time"
    CONFIDENCE = "confidence"
    ERROR_TYPE = "errorType"
    OPERATION = "operation"

    @property
    def is_of_verdicts(self) -> bool:
        """Whether the place of a failure tells of its verdicts."""
        return self is not FailureKey.TIME


@dataclass(frozen=True, slots=True)
class FailureOrder:
    """In which order failures are listed.

    A failure with several verdicts to which the filter applies stands where the first of them would stand. Those
    without what they are sorted by come last, in either direction. Of equal ones the id decides, in the same direction;
    texts are compared character by character, as Unicode numbers them.
    """

    by: FailureKey
    descending: bool = False


@dataclass(frozen=True, slots=True)
class VerdictGroup:
    """How many failures have a verdict of one method that names one error type and one operation.

    Attributes:
        error_type: None is an abstention.
        operation: the operation's name; its category or kind where it has no name; None where none is blamed.
    """

    method: str
    error_type: str | None
    operation: str | None
    failures: int


def in_order_of_size(groups: Iterable[VerdictGroup]) -> list[VerdictGroup]:
    """Groups by size, the largest first; those of one size by their words."""
    return sorted(groups, key=lambda one: (-one.failures, one.method, one.error_type or "", one.operation or ""))


@dataclass(frozen=True, slots=True)
class Activity:
    """Operations of one kind that ended alike, in one stretch of a trace.

    Attributes:
        number: of the stretch, from 0.
        count: how many operations.
        seconds: how long they took together, as far as that is recorded.
        last: the latest time at which one of them began or ended; None where no time is recorded.
    """

    number: int
    kind: str
    status: str
    count: int
    seconds: float
    last: datetime | None


@dataclass(frozen=True, slots=True)
class Period:
    """What came into a project in one stretch of time.

    Attributes:
        start: its first moment.
        traces: how many traces were made in it (``created_at``).
        failures: how many failures were found in it.
        verdicts: how many attributions were made in it, by error type; ``""`` stands for abstentions.
    """

    start: datetime
    traces: int
    failures: int
    verdicts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Health:
    """What ``doctor`` found out about a database; ``problems`` is empty if all is well."""

    engine: str
    version: str
    details: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
