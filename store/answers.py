"""What stores are asked in, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

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
"""What has a place in its trace."""


class Direction(StrEnum):
    """Backward: what it depends on. Forward: what depends on it."""

    BACKWARD = "backward"
    FORWARD = "forward"


@dataclass(frozen=True, slots=True)
class WriteResult:
    """How many elements a write added, and how many were there already, by label."""

    created: dict[str, int]
    existing: dict[str, int]


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored of a trace, as far as it was asked for.

    Attributes:
        trace: the trace; None where there is none, or none that is listed yet.
        next: the next free place of sessions, operations, variables and derivations; 0 where there are none.
        elements: those of the ids asked for that exist, by label and id.
    """

    trace: Trace | None
    next: Mapping[Label, int]
    elements: Mapping[Label, Mapping[str, Any]]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some elements in order, and the cursor of the next page, None after the last."""

    items: list[T]
    next: str | None


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of a closure; None is no bound.

    Attributes:
        hops: derivations between the root and a variable, at most.
        nodes: variables visited, at most, nearest first, of one distance the newest first (backward) or the oldest
            first (forward). The roots always count and are always there.
        seconds: time to walk.
        until: a place in the trace (a variable's ``sequence``): what came later is left out, as though it had not
            happened yet. The roots are always there.
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
        truncated: whether a budget cut it.
        frontier: visited variables with a neighbour that was not visited; ask for their closure to go on.
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
    """A variable that holds the words; the higher the score, the better. Scores of two engines don't compare."""

    variable: Variable
    score: float
    snippet: str


@dataclass(frozen=True, slots=True)
class ScanResult:
    """Hits of a scan over whole values, in the order of the trace; ``truncated`` where a bound ended it early."""

    hits: list[SearchHit]
    truncated: bool
    scanned_bytes: int


@dataclass(frozen=True, slots=True)
class OperationDetail:
    """An operation with what it used and what it made, each in order."""

    operation: Operation
    used: list[Variable]
    generated: list[Variable]
    invalidated: list[Variable]


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts by label and by kind, and bytes (None where the engine can't tell)."""

    labels: dict[str, int]
    kinds: dict[str, dict[str, int]]
    value_bytes: int | None = None
    graph_bytes: int | None = None
    total_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Period:
    """What came into a project in one stretch of time.

    Attributes:
        start: its first moment.
        traces: traces made in it (``created_at``).
        failures: failures found in it.
        verdicts: attributions made in it, by error type; ``""`` stands for abstentions.
    """

    start: datetime
    traces: int
    failures: int
    verdicts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Health:
    """What ``doctor`` found out about a database; ``problems`` is empty where all is well."""

    engine: str
    version: str
    details: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
