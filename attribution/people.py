"""What people say: that an answer is wrong, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

import msgspec

from attribution.lookup import by_id
from ingest.files.smartcomment.texts import readable
from schema.control import AuditEntry
from schema.errors import InputError, NotFoundError
from schema.ids import make_id
from schema.kinds import HUMAN_METHOD, ErrorType, Origin
from schema.models import Attribution, Batch, Failure, Operation, Trace, Variable
from store.answers import Label
from store.protocol import GraphStore

E = TypeVar("E", Trace, Operation, Failure, Attribution)

EntryOf = Callable[[str], AuditEntry]
"""From the id of what an act makes to the entry of the audit log that tells of it."""

MAX_TEXT = 20_000
MAX_LIST = 100


@dataclass(frozen=True, slots=True)
class Complaint:
    """A person says that an answer is wrong.

    Attributes:
        question_id: the variable that was asked.
        answer_id: the variable that was answered; None where there was no answer.
        gold_answers: the answers that would have been right; may be empty.
        evidence_ids: the messages that hold the answer; may be empty.
    """

    question_id: str
    answer_id: str | None
    gold_answers: tuple[str, ...] = ()
    evidence_ids: tuple[str, ...] = ()
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A person says why an answer is wrong; ``error_type`` None is an abstention."""

    failure_id: str
    error_type: ErrorType | None
    operation_id: str | None = None
    reason: str | None = None
    confidence: float | None = None


async def record_failure(
    store: GraphStore, complaint: Complaint, author: str, entry_of: EntryOf | None = None
) -> Failure:
    """Store a failure; one that is known already takes the gold answers and the evidence that are given.

    Args:
        store: holds the variables.
        complaint: what is said.
        author: who says it.
        entry_of: tells of it in the audit log.

    Raises:
        NotFoundError: a variable does not exist.
        InputError: the variables are of several traces, or something is too long.
    """
    _check_texts("goldAnswers", complaint.gold_answers)
    _check_texts("comment", () if complaint.comment is None else (complaint.comment,))
    if len(complaint.evidence_ids) > MAX_LIST:
        raise InputError("failure", "evidence", f"more than {MAX_LIST} messages")
    named = [complaint.question_id, *([complaint.answer_id] if complaint.answer_id else []), *complaint.evidence_ids]
    found = await _variables(store, named)
    question, answer = found[complaint.question_id], found.get(complaint.answer_id or "")
    for variable in found.values():
        if variable.trace_id != question.trace_id:
            raise InputError("failure", variable.id, "is of another trace than the question")
    values = await store.values([question, *([answer] if answer else [])])
    failure = Failure(
        id=make_id("Failure", question.trace_id, question.id, answer.id if answer else ""),
        project_id=store.project_id,
        trace_id=question.trace_id,
        origin=Origin.USER,
        question_id=question.id,
        answer_id=answer.id if answer else None,
        expected_id=None,
        evidence_ids=tuple(dict.fromkeys(complaint.evidence_ids)),
        question=_text(values[question.value_hash]),
        prediction=_text(values[answer.value_hash]) if answer else None,
        gold_answers=complaint.gold_answers,
        created_at=datetime.now(UTC),
        attributes=msgspec.json.encode({"author": author, "comment": complaint.comment}).decode(),
    )
    known = await by_id(store, Failure, [failure.id])
    if known:
        failure = _merged(known[failure.id], failure)
    entry = entry_of(failure.id) if entry_of else None
    await store.write(Batch(await _one(store, Trace, failure.trace_id), failures=[failure]), entry=entry)
    return failure


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
    _check_texts("reason", () if judgement.reason is None else (judgement.reason,))
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


async def _variables(store: GraphStore, ids: Sequence[str]) -> dict[str, Variable]:
    found = await by_id(store, Variable, ids)
    for id_ in ids:
        if id_ not in found:
            raise NotFoundError(id_, Label.VARIABLE.value)
    return found


async def _one(store: GraphStore, model: type[E], id_: str) -> E:
    found = await by_id(store, model, [id_])
    if not found:
        raise NotFoundError(id_, model.__name__)
    return found[id_]


def _merged(known: Failure, said: Failure) -> Failure:
    """What is known of a failure, with what a person adds."""
    attributes = msgspec.json.decode(known.attributes) | msgspec.json.decode(said.attributes)
    return replace(
        known,
        gold_answers=said.gold_answers or known.gold_answers,
        evidence_ids=said.evidence_ids or known.evidence_ids,
        attributes=msgspec.json.encode(attributes).decode(),
    )


def _text(value: bytes) -> str:
    return readable(value.decode("utf-8", "replace"))


def _check_texts(place: str, texts: Sequence[str]) -> None:
    if len(texts) > MAX_LIST:
        raise InputError("input", place, f"more than {MAX_LIST}")
    if any(len(text) > MAX_TEXT for text in texts):
        raise InputError("input", place, f"a text is longer than {MAX_TEXT:,} characters")
