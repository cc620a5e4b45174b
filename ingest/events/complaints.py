"""Failures that somebody reports: an answer is wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import msgspec

from schema.control import AuditEntry
from schema.errors import InputError, NotFoundError
from schema.ids import make_id
from schema.kinds import Origin, VariableKind
from schema.models import Batch, Failure, Trace, Variable
from schema.readable import readable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.paging import every

EntryOf = Callable[[str], AuditEntry]
"""Makes the entry of the audit log from the id of what was changed."""

MAX_TEXT = 20_000
MAX_LIST = 100


@dataclass(frozen=True, slots=True)
class Complaint:
    """Somebody says that an answer is wrong.

    Attributes:
        question_id: the variable that holds the question.
        answer_id: the variable that holds the answer; None if there was no answer.
        gold_answers: the answers that would have been right; may be empty.
        evidence_ids: the messages that contain the answer; may be empty.
    """

    question_id: str
    answer_id: str | None
    gold_answers: tuple[str, ...] = ()
    evidence_ids: tuple[str, ...] = ()
    comment: str | None = None
    said_at: datetime | None = None
    """When it was reported; None means now."""


async def record_failure(
    store: GraphStore, complaint: Complaint, author: str, entry_of: EntryOf | None = None
) -> Failure:
    """Store a failure. New gold answers and evidence replace the stored ones.

    Args:
        store: contains the variables.
        complaint: what is reported.
        author: who reports it.
        entry_of: makes the entry of the audit log.

    Raises:
        NotFoundError: a variable does not exist.
        InputError: the variables belong to different traces, one has the wrong kind for its role, or something is too
            long.
    """
    check_texts("goldAnswers", complaint.gold_answers)
    check_texts("comment", () if complaint.comment is None else (complaint.comment,))
    if len(complaint.evidence_ids) > MAX_LIST:
        raise InputError("failure", "evidence", f"more than {MAX_LIST} messages")
    named = [complaint.question_id, *([complaint.answer_id] if complaint.answer_id else []), *complaint.evidence_ids]
    found = await _variables(store, named)
    question, answer = found[complaint.question_id], found.get(complaint.answer_id or "")
    for variable in found.values():
        if variable.trace_id != question.trace_id:
            raise InputError("failure", variable.id, "is of another trace than the question")
    if question is answer:
        raise InputError("failure", question.id, "is the question and the answer at once")
    if question.kind is VariableKind.ANSWER:
        raise InputError("failure", question.id, "is an answer, and named as the question")
    for id_ in complaint.evidence_ids:
        if found[id_] is answer or found[id_].kind is VariableKind.ANSWER:
            raise InputError("failure", id_, "is an answer, and named as evidence")
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
        created_at=complaint.said_at or datetime.now(UTC),
        attributes=msgspec.json.encode({"author": author, "comment": complaint.comment}).decode(),
    )
    for known in await store.get(Label.FAILURE, [failure.id]):
        assert isinstance(known, Failure)
        failure = _merged(known, failure)
    entry = entry_of(failure.id) if entry_of else None
    await store.write(Batch(await trace_of(store, failure.trace_id), failures=[failure]), entry=entry)
    return failure


async def failures_of(store: GraphStore, answer: Variable) -> AsyncIterator[Failure]:
    """The failures whose wrong answer is this variable."""
    async for failure in every(lambda after: store.failures(answer.trace_id, 1000, after)):
        if failure.answer_id == answer.id:
            yield failure


def check_texts(place: str, texts: Sequence[str]) -> None:
    """Refuse texts that are too many or too long.

    Raises:
        InputError: there are too many, or one is too long.
    """
    if len(texts) > MAX_LIST:
        raise InputError("input", place, f"more than {MAX_LIST}")
    if any(len(text) > MAX_TEXT for text in texts):
        raise InputError("input", place, f"a text is longer than {MAX_TEXT:,} characters")


async def _variables(store: GraphStore, ids: Sequence[str]) -> dict[str, Variable]:
    wanted = list(dict.fromkeys(ids))
    found = {one.id: one for one in await store.get(Label.VARIABLE, wanted) if isinstance(one, Variable)}
    for id_ in ids:
        if id_ not in found:
            raise NotFoundError(id_, Label.VARIABLE.value)
    return found


async def trace_of(store: GraphStore, trace_id: str) -> Trace:
    """A trace by its id.

    Raises:
        NotFoundError: there is no such trace.
    """
    for trace in await store.get(Label.TRACE, [trace_id]):
        assert isinstance(trace, Trace)
        return trace
    raise NotFoundError(trace_id, Label.TRACE.value)


def _merged(known: Failure, said: Failure) -> Failure:
    """The stored failure with the new gold answers, evidence and attributes."""
    more = {name: value for name, value in msgspec.json.decode(said.attributes).items() if value is not None}
    attributes = msgspec.json.decode(known.attributes) | more
    return replace(
        known,
        gold_answers=said.gold_answers or known.gold_answers,
        evidence_ids=said.evidence_ids or known.evidence_ids,
        attributes=msgspec.json.encode(attributes).decode(),
    )


def _text(value: bytes) -> str:
    return readable(value.decode("utf-8", "replace"))
