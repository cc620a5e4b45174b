"""The JSON of the command line. All names are public; see ``schema.models.as_json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from attribution.verdicts.failure_columns import FAILURE_COLUMNS, VERDICT_COLUMNS, FailureRow, public
from attribution.verdicts.gold import on_earlier_gold
from schema.models import (
    Attribution,
    Failure,
    Operation,
    Session,
    Trace,
    Variable,
    as_json,
    camel_case,
    public_names,
)
from store.contract.answers import Closure, Health, OperationDetail, Path, SearchHit, Stats

if TYPE_CHECKING:
    from api.cli.listing import ListedAnswer
    from attribution.blame.model import Blamed
    from attribution.report.lost_answers import LosingPrompt
    from attribution.spine.model import Spine
    from attribution.statistics.kappa import SourceAgreement
    from attribution.why_not.model import WhyNot
    from ingest.queue.protocol import QueueState

Document = dict[str, Any]


def trace_with_counts(trace: Trace, counts: Mapping[str, int]) -> Document:
    """A trace with the number of its elements by label."""
    return as_json(trace) | {"counts": {label: count for label, count in counts.items() if label != "Trace"}}


TRACE_COLUMNS = (*public_names(Trace), "counts")
"""The members of ``trace_with_counts``, in order."""


def whole_trace(
    trace: Trace, stats: Stats, sessions: Sequence[Session], steps: Mapping[str | None, int] | None
) -> Document:
    """A trace with its counts, its kinds and its sessions, each with the number of its operations if this is known."""
    listed = [
        as_json(session) | {"operations": None if steps is None else steps.get(session.id, 0)} for session in sessions
    ]
    return trace_with_counts(trace, stats.labels) | {"kinds": stats.kinds, "sessions": listed}


def operation(detail: OperationDetail) -> Document:
    """An operation with the variables that it used, made and ended."""
    return as_json(detail.operation) | {
        "used": [as_json(variable) for variable in detail.used],
        "generated": [as_json(variable) for variable in detail.generated],
        "invalidated": [as_json(variable) for variable in detail.invalidated],
    }


def answer(found: ListedAnswer) -> Document:
    """An answer with its question and the beginning of its text, if the graph shows a single question.

    ``failure`` is the failure's id where the answer was judged wrong, and ``verdict`` the error type, if one was found.
    """
    only = found.questions[0] if len(found.questions) == 1 else None
    return as_json(found.answer) | {
        "questionId": only and only.id,
        "question": only and only.preview,
        "failure": found.failure and found.failure.id,
        "verdict": found.verdict and found.verdict.error_type,
    }


ANSWER_COLUMNS = (*public_names(Variable), "questionId", "question", "failure", "verdict")
"""The members of ``answer``, in order."""


def blamed(found: Blamed) -> Document:
    """An element with its rank in the blame."""
    return {
        "id": found.id,
        "name": found.name,
        "failed": found.failed,
        "passed": found.passed,
        "score": found.score,
        "traceId": found.trace_id,
    }


BLAMED_COLUMNS = ("id", "name", "failed", "passed", "score", "traceId")
"""The members of ``blamed``, in order."""


def prompt(found: LosingPrompt) -> Document:
    """A prompt with the number of answers that it lost."""
    return {
        "id": found.variable_id,
        "name": found.name,
        "recorded": found.recorded,
        "failures": found.failures,
        "errorTypes": found.error_types,
    }


PROMPT_COLUMNS = ("id", "name", "recorded", "failures", "errorTypes")
"""The members of ``prompt``, in order."""


def closure(root: str, found: Closure) -> Document:
    """A closure. ``root`` is the id that the user named; ``roots`` are the variables of that name."""
    return {
        "root": root,
        "roots": found.roots,
        "direction": found.direction.value,
        "variables": [as_json(variable) for variable in found.variables],
        "derivations": [as_json(derivation) for derivation in found.derivations],
        "operations": [as_json(operation) for operation in found.operations],
        "truncated": found.truncated,
        "frontier": found.frontier,
    }


def path(found: Path) -> Document:
    """The variables and derivations of a path."""
    return {
        "variables": [as_json(variable) for variable in found.variables],
        "derivations": [as_json(derivation) for derivation in found.derivations],
    }


def hit(found: SearchHit) -> Document:
    """A result of a search."""
    variable = found.variable
    return {
        "variableId": variable.id,
        "score": found.score,
        "snippet": found.snippet,
        "externalId": variable.external_id,
        "traceId": variable.trace_id,
        "kind": variable.kind.value,
    }


HIT_COLUMNS = ("variableId", "score", "snippet", "externalId", "traceId", "kind")
"""The members of ``hit``, in order."""


def failure(row: FailureRow) -> Document:
    """The columns of a failure, the error type of the verdict that counts (as in ``answer``), and all verdicts."""
    verdicts = [_verdict(one, row.failure, row.operations) for one in row.verdicts]
    return public(row) | {"verdict": row.verdict and row.verdict.error_type, "verdicts": verdicts}


def failure_row(row: FailureRow) -> Document:
    """A failure as a row of a flat table: the failure's columns, the columns of the verdict that counts, all verdicts.

    The verdicts have their columns only. The paths that prove them would not fit into the cell of a spreadsheet.
    """
    verdicts = [{"id": one.id} | _verdict_columns(replace(row, verdicts=[one])) for one in row.verdicts]
    return failure(row) | _verdict_columns(row) | {"verdicts": verdicts}


FAILURE_ROW_COLUMNS = (*(column.key for column in (*FAILURE_COLUMNS, *VERDICT_COLUMNS)), "verdict", "verdicts")
"""The members of ``failure_row``, in order."""


def _verdict_columns(row: FailureRow) -> Document:
    return {column.key: column.as_json(row) for column in VERDICT_COLUMNS}


def attribution(
    found: Attribution, about: Failure, variables: Mapping[str, Variable], operations: Mapping[str, Operation]
) -> Document:
    """A verdict, with the external ids of its question and of the operations at fault."""
    question = variables.get(about.question_id)
    return _verdict(found, about, operations) | {"questionExternalId": question.external_id if question else None}


def agreement(found: SourceAgreement) -> Document:
    """How far two sources of verdicts agree."""
    return {camel_case(name): value for name, value in asdict(found).items()}


def why_not(pieces: Sequence[WhyNot]) -> list[Document]:
    """For each piece of the answer, what the memory held and did not return."""
    return [to_builtins(piece) for piece in pieces]


def spine(found: Spine) -> Document:
    """The boxes of an answer's past, each with its first members."""
    from attribution.spine.model import shortened

    document: Document = to_builtins(shortened(found))
    for box, of in zip(document["boxes"], found.boxes, strict=True):
        box["isOthers"] = of.is_others
    return document


def _verdict(found: Attribution, about: Failure, operations: Mapping[str, Operation]) -> Document:
    def external_id(operation_id: str | None) -> str | None:
        operation = operations.get(operation_id or "")
        return operation.external_id if operation else None

    public = as_json(found)
    losses = [loss | {"operationExternalId": external_id(loss["operationId"])} for loss in public["losses"]]
    return public | {
        "operationExternalId": external_id(found.operation_id),
        "losses": losses,
        "onEarlierGold": on_earlier_gold(found, about),
    }


def variable(found: Variable, maker: Operation | None) -> Document:
    """A variable with the operation that made it."""
    return as_json(found) | {"operation": as_json(maker) if maker else None}


def stats(found: Stats) -> Document:
    """Counts by label and kind, and bytes."""
    return {
        "counts": found.labels,
        "kinds": found.kinds,
        "bytes": {"values": found.value_bytes, "graph": found.graph_bytes, "total": found.total_bytes},
    }


def queue(found: QueueState, dead: int) -> Document:
    """The state of the queue of events of all projects; the dead letters are those of the current project."""
    waited = (datetime.now(UTC) - found.oldest).total_seconds() if found.oldest else None
    return {
        "packets": found.packets,
        "bytes": found.bytes,
        "oldestSeconds": None if waited is None else max(0.0, waited),
        "workers": found.workers,
        "deadLetters": dead,
    }


def health(found: Health) -> Document:
    """The result of checking a database."""
    return {
        "ok": not found.problems,
        "engine": found.engine,
        "version": found.version,
        "details": found.details,
        "problems": found.problems,
    }
