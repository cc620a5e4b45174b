"""Scalars and enums of the schema. The names of enum values are the public words, as in the graph and in JSON."""

from datetime import UTC, datetime
from typing import Any, NewType

import msgspec
import strawberry
from strawberry.schema.config import StrawberryConfig
from strawberry.types.scalar import ScalarDefinition

from attribution.compare.runs import CaseOutcome
from attribution.verdicts.verdict import Method
from optimization.proof.model import Result as ProofResult
from schema.annotation import CaseOrder, Progress
from schema.control import JobKind, JobState, Role
from schema.errors import InputError
from schema.kinds import DerivationKind, ErrorType, OperationKind, Origin, QuestionKind, Status, VariableKind
from schema.models import format_time
from store.contract.answers import Direction

__all__ = [
    "JSON",
    "BigInt",
    "CaseOrder",
    "CaseOutcome",
    "DerivationKind",
    "Direction",
    "ErrorType",
    "JobKind",
    "JobState",
    "Method",
    "OperationKind",
    "Origin",
    "Progress",
    "ProofResult",
    "QuestionKind",
    "Role",
    "Status",
    "VariableKind",
    "config",
]

JSON = NewType("JSON", str)
BigInt = NewType("BigInt", int)


def _parse_time(text: Any) -> datetime:
    """A moment in UTC. All other code has only moments in UTC, so a moment that UTC can't express is refused here."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        given = repr(text[:80]) if isinstance(text, str) else "what is no text"
        raise InputError("DateTime", "", f"{given} is not ISO 8601, such as 2026-01-31T12:00:00Z") from None
    if moment.tzinfo is None:
        raise InputError("DateTime", "", f"{text!r} does not say its zone: end it with Z, or with +02:00")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise InputError("DateTime", "", f"{text!r} is not from the year 1 to the year 9999 in UTC") from None


def _parse_integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError("BigInt", "", "an integer is needed")
    return value


def _refuse(value: Any) -> Any:
    raise InputError("JSON", "", "is only for answers")


SCALARS: dict[object, ScalarDefinition] = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="A date and time in UTC, as ISO 8601 with microseconds: `2026-01-31T12:00:00.000000Z`.",
        serialize=format_time,
        parse_value=_parse_time,
    ),
    JSON: strawberry.scalar(
        name="JSON", description="Any JSON value.", serialize=msgspec.json.decode, parse_value=_refuse
    ),
    BigInt: strawberry.scalar(
        name="BigInt",
        description="An integer that may be larger than 32 bits, as a JSON number.",
        serialize=int,
        parse_value=_parse_integer,
    ),
}


def config() -> StrawberryConfig:
    """Strawberry's configuration: our scalars, and no batches."""
    return StrawberryConfig(scalar_map=SCALARS, batching_config=None)


_ENUMS: dict[Any, str] = {
    CaseOrder: (
        "Which failures an annotation queue takes first. random: any; unsure: those whose method is least sure; "
        "disagreement: those on which methods disagree; errorType: as many of each error type that methods name; "
        "system: as many of each memory system."
    ),
    Progress: (
        "How far somebody is with a case. reserved: it is kept for them; done: they have submitted a verdict; skipped: "
        "they have left it to others; gone: the failure was deleted."
    ),
    CaseOutcome: (
        "What became of a question from the first of two traces to the second, or of a failure from the first of two "
        "methods to the second. fixed: wrong before, and right now; broken: the other way round; stillWrong and "
        "stillRight: as before; different: two methods say different things, and no person has said which is right; "
        "notJudged: nobody judged one of the two answers, and no gold answer decides it; "
        "notCompared: asked in only one of the traces, or nobody says what is right."
    ),
    OperationKind: "What sort of step an operation is.",
    VariableKind: "What sort of value a variable is.",
    DerivationKind: "How a target came from its source.",
    Status: "How an operation ended.",
    Origin: "Who says that an answer failed.",
    ErrorType: "Why an answer is wrong. AnnotationError and LLMAsAJudgeError are not the memory's fault.",
    QuestionKind: (
        "What the right answer to a question needs. plain: one fact; several: several facts; inferred: what a "
        "conclusion rests on; unanswerable: a refusal, for nothing tells the answer; conversational: what of a long "
        "reply rests on earlier messages."
    ),
    Role: (
        "What somebody may do in a project. A writer may do all that a reader may, and an admin all that a writer may."
    ),
    JobKind: "What sort of work a job does.",
    JobState: "The state of a job. done, failed and cancelled are final.",
    Method: (
        "How the cause of a failure is found. flow applies rules to the graph and is free; walk asks a "
        "language model for small judgements where flow is unsure; llm and oneshot ask one for the whole verdict; auto "
        "is walk, and then llm where walk is unsure."
    ),
    ProofResult: (
        "What replaying showed. proved: correcting the operation makes the answer right, and nothing else does; "
        "refuted: it does not, or an earlier operation lost what was needed; unsettled: nobody can tell, for the "
        "reason that is given."
    ),
    Direction: (
        "A direction in the causal graph. backward leads to what a variable depends on, forward to what depends on it."
    ),
}

_NAMES = {ProofResult: "ProofResult", CaseOutcome: "Outcome"}
"""Names of enums in the schema that differ from the names of their classes."""

for _of, _description in _ENUMS.items():
    strawberry.enum(_of, name=_NAMES.get(_of), description=_description, graphql_name_from="value")
