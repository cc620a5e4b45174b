"""People's verdicts on failures: validation, storage, withdrawal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from attribution.verdicts.gold import gold_mark
from attribution.verdicts.stored import by_id
from attribution.verdicts.verdict import Link, Step, written
from ingest.events.feedback import MAX_LIST, EntryOf, check_texts
from schema.control import AuditEntry
from schema.errors import InputError, NotFoundError
from schema.ids import make_id
from schema.kinds import ERROR_TYPES, HUMAN_METHOD, ErrorType, OperationKind
from schema.models import Attribution, Batch, Failure, Operation, Trace, Variable
from schema.people import check_person
from store.contract.answers import Label
from store.contract.protocol import GraphStore

E = TypeVar("E", Trace, Operation, Variable, Failure, Attribution)

Named = tuple[ErrorType, str | None]
"""An error type, and the id of the operation at fault; None without an operation."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A person's verdict on a failure; ``error_type`` None is an abstention.

    Attributes:
        also: further verdicts accepted by the person.
        evidence: ids of variables that show the error, each with a quote of the value, which may be empty.
        details: the attributes of the stored verdict.
    """

    failure_id: str
    error_type: ErrorType | None
    operation_id: str | None = None
    reason: str | None = None
    confidence: float | None = None
    also: tuple[Named, ...] = ()
    evidence: tuple[tuple[str, str], ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


async def record_verdict(
    store: GraphStore, judgement: Judgement, author: str, entry_of: EntryOf | None = None
) -> Attribution:
    """Store a person's verdict on a failure; it replaces the person's earlier verdict.

    Args:
        store: holds the failure.
        judgement: the verdict.
        author: the person.
        entry_of: makes the entry of the audit log.

    Raises:
        NotFoundError: there is no such failure or operation.
        InputError: the author's name is invalid, error type and operation do not fit, the operation is of another
            trace, or a value is out of range.
    """
    trace, verdict = await checked_verdict(store, judgement, author)
    await write_verdict(store, trace, verdict, entry_of)
    return verdict


async def checked_verdict(store: GraphStore, judgement: Judgement, author: str) -> tuple[Trace, Attribution]:
    """A validated verdict by a person, and the trace of the failure.

    Raises:
        NotFoundError, InputError: see ``record_verdict``.
    """
    check_person(author, "verdict", "author")
    check_texts("reason", () if judgement.reason is None else (judgement.reason,))
    if judgement.confidence is not None and not 0 <= judgement.confidence <= 1:
        raise InputError("verdict", "confidence", f"{judgement.confidence} is not from 0 to 1")
    failure = await _one(store, Failure, judgement.failure_id)
    await _check_operations(store, judgement, failure)
    await _check_evidence(store, judgement, failure)
    judgement = replace(judgement, details={**judgement.details, **gold_mark(failure)})
    return await _one(store, Trace, failure.trace_id), verdict_of(failure, judgement, author)


async def write_verdict(store: GraphStore, trace: Trace, verdict: Attribution, entry_of: EntryOf | None = None) -> None:
    """Store a validated verdict."""
    entry = entry_of(verdict.id) if entry_of else None
    await store.write(Batch(trace, attributions=[verdict]), entry=entry)


def verdict_of(failure: Failure, judgement: Judgement, author: str) -> Attribution:
    """A person's verdict as an element of the graph. Verdicts that the person also accepts become candidates."""
    also = [named for named in dict.fromkeys(judgement.also) if named != (judgement.error_type, judgement.operation_id)]
    return Attribution(
        id=make_id("Attribution", failure.id, HUMAN_METHOD, author),
        project_id=failure.project_id,
        trace_id=failure.trace_id,
        failure_id=failure.id,
        error_type=judgement.error_type,
        operation_id=judgement.operation_id,
        confidence=judgement.confidence,
        method=HUMAN_METHOD,
        model=None,
        reason=judgement.reason,
        evidence=_encode([written(Step(id_, None, Link.START, quote, True)) for id_, quote in judgement.evidence]),
        candidates=_encode(
            [
                {"errorType": error_type, "operationId": operation, "confidence": None, "reason": ""}
                for error_type, operation in also
            ]
        ),
        tokens=None,
        cost=None,
        seconds=None,
        created_at=datetime.now(UTC),
        author=author,
        attributes=_encode(judgement.details),
    )


def problem_of(error_type: ErrorType, operation: Operation | None) -> str | None:
    """Why an error type and an operation do not fit; None if they do.

    Args:
        error_type: of a verdict.
        operation: blamed by the verdict; None for a verdict without an operation.
    """
    if not ERROR_TYPES[error_type].is_memory:
        return None if operation is None else f"{error_type} takes no operation: none of the memory is at fault"
    if operation is None:
        return f"{error_type} needs the operation at fault"
    if operation.kind is OperationKind.JUDGE:
        return f"{operation.external_id!r} judges answers, so it can't be at fault for {error_type}"
    if operation.kind in ERROR_TYPES[error_type].not_by:
        return f"{operation.external_id!r} is of kind {operation.kind}, which can't be at fault for {error_type}"
    return None


async def withdraw_verdict(
    store: GraphStore, attribution_id: str, author: str | None, entry: AuditEntry | None = None, by: str | None = None
) -> Attribution:
    """Withdraw a person's verdict.

    Args:
        store: holds the verdict.
        attribution_id: of the verdict.
        author: who may withdraw only own verdicts; None may withdraw any person's verdict.
        entry: of the audit log.
        by: the withdrawing person, for the history; None means the author.

    Raises:
        NotFoundError: there is no such verdict.
        InputError: the verdict is not a person's, or not the author's.
    """
    verdict = await _one(store, Attribution, attribution_id)
    if verdict.method != HUMAN_METHOD:
        raise InputError("verdict", attribution_id, "is a method's, not a person's: it stays")
    if author is not None and verdict.author != author:
        raise InputError("verdict", attribution_id, "is another person's: an admin may take it back")
    if not await store.delete_attributions([attribution_id], entry, by):
        raise NotFoundError(attribution_id, Label.ATTRIBUTION.value)
    return verdict


async def _check_operations(store: GraphStore, judgement: Judgement, failure: Failure) -> None:
    if judgement.error_type is None and judgement.operation_id is not None:
        raise InputError("verdict", "operation", "an abstention blames no operation")
    if len(judgement.also) > MAX_LIST:
        raise InputError("verdict", "also", f"more than {MAX_LIST}")
    named = [("also", *one) for one in judgement.also]
    if judgement.error_type is not None:
        named.insert(0, ("operation", judgement.error_type, judgement.operation_id))
    found = await by_id(store, Operation, (id_ for _, _, id_ in named))
    for place, error_type, id_ in named:
        if id_ is not None and id_ not in found:
            raise NotFoundError(id_, Operation.__name__)
        operation = found.get(id_ or "")
        if operation is not None and operation.trace_id != failure.trace_id:
            raise InputError("verdict", place, "is of another trace than the failure")
        problem = problem_of(error_type, operation)
        if problem is not None:
            raise InputError("verdict", place, problem)


async def _check_evidence(store: GraphStore, judgement: Judgement, failure: Failure) -> None:
    if len(judgement.evidence) > MAX_LIST:
        raise InputError("verdict", "evidence", f"more than {MAX_LIST}")
    check_texts("evidence", [quote for _, quote in judgement.evidence])
    found = await by_id(store, Variable, (id_ for id_, _ in judgement.evidence))
    for id_, quote in judgement.evidence:
        if id_ not in found:
            raise NotFoundError(id_, Variable.__name__)
        if found[id_].trace_id != failure.trace_id:
            raise InputError("verdict", "evidence", "is of another trace than the failure")
        if quote and quote not in (await store.value(found[id_])).decode("utf-8", "replace"):
            raise InputError("verdict", "evidence", f"{id_} does not say {quote[:80]!r}")


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()


async def _one(store: GraphStore, model: type[E], id_: str) -> E:
    found = await by_id(store, model, [id_])
    if not found:
        raise NotFoundError(id_, model.__name__)
    return found[id_]
