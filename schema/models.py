"""The domain models. Field names are the public property names in snake case (``as_json`` gives the public form).

Times are aware datetimes in UTC. ``attributes`` is JSON text: most readers never need the attributes, and parsing the
text for every element of a large closure would cost more than reading the closure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

import msgspec

from schema.kinds import DerivationKind, ErrorType, OperationKind, Origin, QuestionKind, Status, VariableKind

PREVIEW_CHARACTERS = 500
WHOLE_VALUE_BYTES = 2048
"""A value up to this size is stored whole with the variable."""

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
        occurrence: 0 for a recorded variable; 1, 2, ... for variables that the importer adds where a source shares one
            node among several reads or equal texts. An occurrence keeps the ``external_id`` of the recorded variable.
        value: the whole value if at most ``WHOLE_VALUE_BYTES`` long, else None.
        size: bytes of the value in UTF-8.
        operation_id: the operation that made the variable (``GENERATED_BY``); None for an input from outside.
        revision_of: the version before (``REVISION_OF``).
        right: for an answer, whether a judge found the answer right; None if not judged. Set after the first write.
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
    """A variable that an operation used and did not make (``USED``).

    Attributes:
        score: a retrieval's rating of the variable, on the retrieval's own scale.
    """

    operation_id: str
    variable_id: str
    role: str | None
    position: int
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Invalidation:
    """A variable whose life an operation ended, such as a deletion (``INVALIDATED_BY``)."""

    variable_id: str
    operation_id: str


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of an operation that was written as ``running``; an ending of any other operation changes nothing.

    Attributes:
        attributes: JSON text, the new attributes of the operation; None keeps the old attributes.
    """

    operation_id: str
    status: Status
    ended_at: datetime | None
    attributes: str | None = None


@dataclass(frozen=True, slots=True)
class Placing:
    """A new place (``sequence``) for a stored variable in its trace."""

    variable_id: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A question whose answer was judged wrong.

    Attributes:
        question_id: the variable with the question (``ASKED``).
        answer_id: the variable with the answer (``ANSWERED``): the occurrence made by the operation that answered.
        expected_id: the variable with the gold answers (``EXPECTED``).
        evidence_ids: messages that hold the answer according to the data set.
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
        evidence: JSON text, the path that proves the verdict: a list of steps, each an object. The attribution cites
            the variable that a step names as ``variableId`` (``CITES``).
        candidates: JSON text, other operations in question.
        losses: JSON text, where each piece of the needed facts ended: a list of objects with ``piece`` (a quote),
            ``errorType``, ``operationId``, ``confidence``, ``reason``, ``reached`` (whether the piece is in the answer)
            and ``path`` (steps as in ``evidence``). ``operationId`` names the operation that lost the piece (``LOST``),
            and is null if the piece was not lost or nobody knows where.
        question_kind: what an answer to the question needs; None if the author does not say, for example a person.
        proof: JSON text, the result of replaying the program: an object with ``result`` (proved, refuted or unsettled)
            and ``reason``; None if the program was not replayed.
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
"""Everything that is stored under an id of its own."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The maker and further fields of a stored variable without a maker; for any other variable nothing changes."""

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
    """Elements of one trace that are written together. They may refer to elements of the batch and to stored elements.

    Attributes:
        right_answers: ids of answers that were judged right. The answer of a failure stays wrong.
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


def public_names(model: type[Element]) -> tuple[str, ...]:
    """The names of a model's properties in JSON, in order."""
    return tuple(camel_case(item.name) for item in fields(model))


def _public_names(element: Element) -> tuple[tuple[str, str], ...]:
    model = type(element).__name__
    if model not in _PUBLIC_NAMES:
        _PUBLIC_NAMES[model] = tuple((item.name, camel_case(item.name)) for item in fields(element))
    return _PUBLIC_NAMES[model]


def format_time(moment: datetime) -> str:
    """ISO 8601 in UTC with microseconds and ``Z``."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def as_json(element: Element) -> dict[str, Any]:
    """The element as a dict that JSON can hold: names in camel case, times in ISO 8601, JSON texts parsed."""
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
