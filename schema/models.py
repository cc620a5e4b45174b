"""The domain models. Field names are the public property names in snake case (``as_json`` gives the public form).

Times are aware datetimes in UTC. ``attributes`` is JSON text: most readers never look inside, and parsing it for
every element of a large closure would cost more than reading the closure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

import msgspec

from schema.kinds import DerivationKind, ErrorType, OperationKind, Origin, QuestionKind, Status, VariableKind

PREVIEW_CHARACTERS = 500
WHOLE_VALUE_BYTES = 2048
"""A value up to this size is kept whole on its variable."""

NO_ATTRIBUTES = "{}"


@dataclass(frozen=True, slots=True)
class Trace:
    """One execution graph: the life of one memory store for one user or run."""

    id: str
    project_id: str
    external_id: str
    name: str | None
    source: str
    created_at: datetime | None
    attributes: str = NO_ATTRIBUTES


@dataclass(frozen=True, slots=True)
class Session:
    """A named stage of a trace."""

    id: str
    project_id: str
    trace_id: str
    external_id: str
    name: str | None
    category: str | None
    comment: str | None
    sequence: int
    created_at: datetime | None
    attributes: str = NO_ATTRIBUTES


@dataclass(frozen=True, slots=True)
class Operation:
    """One step that makes variables from variables."""

    id: str
    project_id: str
    trace_id: str
    session_id: str | None
    external_id: str
    name: str | None
    kind: OperationKind
    category: str | None
    comment: str | None
    status: Status
    sequence: int
    started_at: datetime | None
    ended_at: datetime | None
    location: str | None
    attributes: str = NO_ATTRIBUTES


@dataclass(frozen=True, slots=True)
class Variable:
    """One immutable value at one moment.

    Attributes:
        occurrence: 0 for a recorded variable; 1, 2, ... for those added where a source shares one node among several
            reads or equal texts. They keep the ``external_id`` of the variable that they stand for.
        value: the whole value where it is at most ``WHOLE_VALUE_BYTES`` long, else None.
        size: bytes of the value in UTF-8.
        operation_id: the operation that made it (``GENERATED_BY``); None for an input from outside.
        revision_of: the version before it (``REVISION_OF``).
        right: whether it was judged right or wrong, if it is an answer that was judged; said later than it is written.
    """

    id: str
    project_id: str
    trace_id: str
    session_id: str | None
    external_id: str
    name: str
    class_name: str | None
    version: int
    occurrence: int
    kind: VariableKind
    category: str | None
    comment: str | None
    preview: str
    value: str | None
    value_hash: str
    size: int
    media_type: str
    sequence: int
    created_at: datetime | None
    location: str | None
    attributes: str = NO_ATTRIBUTES
    operation_id: str | None = None
    revision_of: str | None = None
    right: bool | None = None


@dataclass(frozen=True, slots=True)
class Derivation:
    """``target`` was derived from ``source`` by an operation (``DERIVED_FROM``)."""

    id: str
    project_id: str
    trace_id: str
    source: str
    target: str
    operation_id: str
    external_id: str | None
    kind: DerivationKind
    category: str | None
    comment: str | None
    sequence: int
    created_at: datetime | None
    location: str | None
    attributes: str = NO_ATTRIBUTES


@dataclass(frozen=True, slots=True)
class Usage:
    """An operation used a variable that it did not make itself (``USED``).

    Attributes:
        score: how a retrieval rated the variable, on a scale of its own.
    """

    operation_id: str
    variable_id: str
    role: str | None
    position: int
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Invalidation:
    """An operation ended a variable's life, as a deletion does (``INVALIDATED_BY``)."""

    variable_id: str
    operation_id: str


@dataclass(frozen=True, slots=True)
class Ending:
    """How an operation that was written as ``running`` has ended; one that has ended stays as it is.

    Attributes:
        attributes: JSON text that replaces the operation's; None leaves them as they are.
    """

    operation_id: str
    status: Status
    ended_at: datetime | None
    attributes: str | None = None


@dataclass(frozen=True, slots=True)
class Placing:
    """A stored variable gets another place in its trace."""

    variable_id: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A question whose answer was judged wrong.

    Attributes:
        question_id: variable that was ``ASKED``.
        answer_id: variable that was ``ANSWERED``: the occurrence that this question's operation made.
        expected_id: variable that holds the gold answers (``EXPECTED``).
        evidence_ids: messages that hold the answer, as the data set says.
    """

    id: str
    project_id: str
    trace_id: str
    origin: Origin
    question_id: str
    answer_id: str | None
    expected_id: str | None
    evidence_ids: tuple[str, ...]
    question: str
    prediction: str | None
    gold_answers: tuple[str, ...]
    created_at: datetime | None
    attributes: str = NO_ATTRIBUTES


@dataclass(frozen=True, slots=True)
class Attribution:
    """A verdict on a failure. ``error_type`` None is an abstention.

    Attributes:
        evidence: JSON text, the path that proves the verdict: a list of steps, each an object; the variable that a
            step names as ``variableId`` is cited (``CITES``).
        candidates: JSON text, other operations in question.
        losses: JSON text, where each piece of what the answer needs ended: a list of objects with ``piece`` (a quote),
            ``errorType``, ``operationId``, ``confidence``, ``reason``, ``reached`` (whether the piece is in the answer)
            and ``path`` (steps like those of ``evidence``). The operation is null where the piece was not lost, or
            nobody knows where; else it lost the piece (``LOST``).
        question_kind: what an answer to the question needs; None where the source does not say it, such as a person.
        proof: JSON text, what replaying the program showed of the verdict: an object with ``result`` (proved, refuted
            or unsettled) and ``reason``; None where it was not replayed.
    """

    id: str
    project_id: str
    trace_id: str
    failure_id: str
    error_type: ErrorType | None
    operation_id: str | None
    confidence: float | None
    method: str
    model: str | None
    reason: str | None
    evidence: str
    candidates: str
    tokens: int | None
    cost: float | None
    seconds: float | None
    created_at: datetime | None
    author: str | None
    attributes: str = NO_ATTRIBUTES
    losses: str = "[]"
    question_kind: QuestionKind | None = None
    proof: str | None = None


Element = Trace | Session | Operation | Variable | Derivation | Failure | Attribution
"""A thing with an id."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What the maker says of a stored variable that was only mentioned so far; one that has a maker stays as it is."""

    variable_id: str
    session_id: str | None
    version: int
    category: str | None
    created_at: datetime | None
    location: str | None
    attributes: str
    operation_id: str
    revision_of: str | None


@dataclass(frozen=True, slots=True)
class Batch:
    """Elements of one trace that are written together. What they refer to is in the batch or stored before.

    Attributes:
        right_answers: ids of variables that were judged right. The answer of a failure is wrong, and stays so.
    """

    trace: Trace
    sessions: list[Session] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    derivations: list[Derivation] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)
    invalidations: list[Invalidation] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    attributions: list[Attribution] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)
    placings: list[Placing] = field(default_factory=list)
    completions: list[Completion] = field(default_factory=list)
    right_answers: list[str] = field(default_factory=list)


_PUBLIC_NAMES: dict[str, tuple[tuple[str, str], ...]] = {}
_JSON_TEXT_FIELDS = {"attributes", "evidence", "candidates", "losses", "proof"}


def camel_case(name: str) -> str:
    """``value_hash`` → ``valueHash``."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def _public_names(element: Element) -> tuple[tuple[str, str], ...]:
    model = type(element).__name__
    if model not in _PUBLIC_NAMES:
        _PUBLIC_NAMES[model] = tuple((item.name, camel_case(item.name)) for item in fields(element))
    return _PUBLIC_NAMES[model]


def format_time(moment: datetime) -> str:
    """ISO 8601 in UTC with microseconds and ``Z``."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def as_json(element: Element) -> dict[str, Any]:
    """The element in its public form: names in camel case, times in ISO 8601, JSON texts parsed."""
    public: dict[str, Any] = {}
    for name, public_name in _public_names(element):
        value = getattr(element, name)
        if name in _JSON_TEXT_FIELDS and value is not None:
            value = msgspec.json.decode(value)
        elif isinstance(value, datetime):
            value = format_time(value)
        elif isinstance(value, tuple):
            value = list(value)
        public[public_name] = value
    return public
