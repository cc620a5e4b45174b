"""What people say of a wrong answer: why it is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from attribution.lookup import by_id
from ingest.events.complaints import EntryOf, check_texts
from schema.control import AuditEntry
from schema.errors import InputError, NotFoundError
from schema.ids import make_id
from schema.kinds import HUMAN_METHOD, ErrorType
from schema.models import Attribution, Batch, Failure, Operation, Trace
from store.answers import Label
from store.protocol import GraphStore

E = TypeVar("E", Trace, Operation, Failure, Attribution)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A person says why an answer is wrong; ``error_type`` None is an abstention."""

    failure_id: str
    error_type: ErrorType | None
    operation_id: str | None = None
    reason: str | None = None
    confidence: float | None = None


async def record_verdict(
    store: GraphStore, judgement: Judgement, author: str, entry_of: EntryOf | None = None
) -> Attribution:
    """Store a person's verdict on a failure; the one that this person gave before is replaced.

    Args:
        store: holds the failure.
        judgement: what is said.
        author: who says it.
        entry_of: tells of it in the audit log.

    Raises:
        NotFoundError: there is no such failure or operation.
        InputError: the operation is of another trace, or something is out of range.
    """
    check_texts("reason", () if judgement.reason is None else (judgement.reason,))
    if judgement.confidence is not None and not 0 <= judgement.confidence <= 1:
        raise InputError("verdict", "confidence", f"{judgement.confidence} is not from 0 to 1")
    failure = await _one(store, Failure, judgement.failure_id)
    await _check_operation(store, judgement, failure)
    verdict = Attribution(
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
        evidence="[]",
        candidates="[]",
        tokens=None,
        cost=None,
        seconds=None,
        created_at=datetime.now(UTC),
        author=author,
    )
    entry = entry_of(verdict.id) if entry_of else None
    await store.write(Batch(await _one(store, Trace, failure.trace_id), attributions=[verdict]), entry=entry)
    return verdict


async def withdraw_verdict(
    store: GraphStore, attribution_id: str, author: str | None, entry: AuditEntry | None = None
) -> Attribution:
    """Take back a person's verdict.

    Args:
        store: holds it.
        attribution_id: whose verdict is meant.
        author: who may take back only what is theirs; None may take back any person's.
        entry: tells of it in the audit log.

    Raises:
        NotFoundError: there is no such verdict.
        InputError: it is not a person's, or not theirs.
    """
    verdict = await _one(store, Attribution, attribution_id)
    if verdict.method != HUMAN_METHOD:
        raise InputError("verdict", attribution_id, "is a method's, not a person's: it stays")
    if author is not None and verdict.author != author:
        raise InputError("verdict", attribution_id, "is another person's: an admin may take it back")
    if not await store.delete_attributions([attribution_id], entry):
        raise NotFoundError(attribution_id, Label.ATTRIBUTION.value)
    return verdict


async def _check_operation(store: GraphStore, judgement: Judgement, failure: Failure) -> None:
    if judgement.operation_id is None:
        return
    if judgement.error_type is None:
        raise InputError("verdict", "operation", "an abstention blames no operation")
    operation = await _one(store, Operation, judgement.operation_id)
    if operation.trace_id != failure.trace_id:
        raise InputError("verdict", "operation", "is of another trace than the failure")


async def _one(store: GraphStore, model: type[E], id_: str) -> E:
    found = await by_id(store, model, [id_])
    if not found:
        raise NotFoundError(id_, model.__name__)
    return found[id_]
