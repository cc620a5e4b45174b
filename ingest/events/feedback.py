"""Feedback on answers: people and applications report answers as wrong (a failure) or right, or take a report back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import msgspec
from memtrace import events as wire

from ingest.events.names import EventRefusedError, Names, names_of, references
from ingest.events.questions import questions_of
from schema.control import AuditEntry
from schema.errors import AmbiguousError, InputError, NotFoundError
from schema.ids import make_id, trace_id
from schema.kinds import Origin, VariableKind
from schema.models import Batch, Failure, Trace, Variable
from schema.readable import readable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.paging import every
from store.shared.resolving import ambiguous, by_name, is_prefix

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
    """Store the failure that a complaint reports; see ``failure_of`` and ``store_failure``."""
    failure = await failure_of(store, complaint, author)
    await store_failure(store, failure, entry_of)
    return failure


async def failure_of(store: GraphStore, complaint: Complaint, author: str) -> Failure:
    """The failure that a complaint reports; nothing is stored yet. New gold answers and evidence replace stored ones.

    Args:
        store: contains the variables.
        complaint: what is reported.
        author: who reports it.

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
    return failure


async def store_failure(store: GraphStore, failure: Failure, entry_of: EntryOf | None = None) -> None:
    """Store a failure.

    Args:
        store: contains the failure's trace.
        failure: of ``failure_of``.
        entry_of: makes the entry of the audit log.
    """
    entry = entry_of(failure.id) if entry_of else None
    await store.write(Batch(await trace_of(store, failure.trace_id), failures=[failure]), entry=entry)


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


async def record_right(
    store: GraphStore, answer: Variable, said_at: datetime | None = None, entry_of: EntryOf | None = None
) -> Variable:
    """Store that an answer is right, and return the answer. A second call changes nothing.

    Args:
        store: contains the answer.
        answer: the stored answer.
        said_at: when somebody said so; None means now. A failure that was reported later has priority.
        entry_of: makes the entry of the audit log.

    Raises:
        InputError: the variable is not an answer, or a failure says that it is wrong.
    """
    if answer.kind is not VariableKind.ANSWER:
        raise InputError("right", answer.id, f"is of kind {answer.kind}: only an Answer can be judged right")
    if answer.right is False:
        failure = await _failure_of(store, answer)
        if said_at is not None and failure.created_at is not None and said_at < failure.created_at:
            return answer
        raise InputError("right", answer.id, f"was judged wrong: failure {failure.id} says so")
    if answer.right is None:
        batch = Batch(await trace_of(store, answer.trace_id), right_answers=[answer.id])
        await store.write(batch, entry=entry_of(answer.id) if entry_of else None)
    return replace(answer, right=True)


async def _failure_of(store: GraphStore, answer: Variable) -> Failure:
    async for failure in failures_of(store, answer):
        return failure
    raise InputError("right", answer.id, "was judged wrong")


async def find_reported(store: GraphStore, reference: str, trace_id: str | None = None) -> Failure:
    """The user-reported failure that ``reference`` names, by the failure's own id or by its answer.

    Raises:
        NotFoundError: there is no such failure or answer, or no failure has the answer.
        AmbiguousError: several failures match.
        InputError: no user reported the failure.
    """
    failure = await _failure_or_answer(store, reference, Label.FAILURE, trace_id)
    if isinstance(failure, Failure) and not is_prefix(reference):
        return _checked(failure)
    answer = await _failure_or_answer(store, reference, Label.VARIABLE, trace_id)
    if failure is None and answer is None:
        answer = await by_name(store, reference, trace_id)
    if failure is not None and answer is not None:
        raise ambiguous(reference, [failure, answer])
    if isinstance(failure, Failure):
        return _checked(failure)
    if not isinstance(answer, Variable):
        raise NotFoundError(reference, "failure or answer")
    found = [one async for one in failures_of(store, answer)]
    reported = [one for one in found if one.origin is Origin.USER]
    if len(reported) > 1:
        raise ambiguous(reference, reported)
    if not found:
        raise NotFoundError(reference, "failure of the answer")
    return _checked((reported or found)[0])


async def withdraw_failure(store: GraphStore, failure: Failure, entry_of: EntryOf | None = None) -> dict[str, int]:
    """Delete a user-reported failure with its verdicts; returns counts of deleted elements by label.

    The answer then counts as not judged, unless another failure has the same answer.

    Args:
        store: contains the failure.
        failure: the stored failure.
        entry_of: makes the entry of the audit log.

    Raises:
        InputError: no user reported the failure.
        NotFoundError: the failure was deleted meanwhile.
    """
    _checked(failure)
    return await store.delete_failure(failure.id, entry_of(failure.id) if entry_of else None)


async def _failure_or_answer(
    store: GraphStore, reference: str, label: Label, trace_id: str | None
) -> Failure | Variable | None:
    try:
        found = await store.resolve(reference, label, trace_id)
    except NotFoundError:
        return None
    assert isinstance(found, Failure | Variable)
    return found


def _checked(failure: Failure) -> Failure:
    """The failure, if a user reported it; verdicts of judges and annotations belong to the recording."""
    if failure.origin is not Origin.USER:
        said = "an LLM judge" if failure.origin is Origin.JUDGE else "an annotation in the data"
        problem = f"was recorded by {said}, and stays: only what a user reported can be withdrawn"
        raise InputError("failure", failure.id, problem)
    return failure


AUTHOR = "application"
"""The author of failures from feedback, kept in the failure's attributes."""


async def take_feedback(store: GraphStore, event: wire.Feedback) -> None:
    """Record that an answer is right, or create or change the failure of a wrong answer.

    Raises:
        EventRefusedError: the event names a variable that does not exist, or the graph has no question for the answer.
        InputError: a text is too long; or the "right answer" is no answer, or a failure says that it is wrong.
    """
    names = await names_of(store, trace_id(store.project_id, event.trace), [event])
    found = await _named(store, names, [name for _, name in references(event)])
    answer = found[event.answer]
    if event.right:
        await record_right(store, answer, event.time)
        return
    if event.question is None:
        asked = await _asked(store, answer)
    else:
        asked = found[event.question].id
    evidence = tuple(found[name].id for name in event.evidence)
    complaint = Complaint(asked, answer.id, tuple(event.gold), evidence, event.comment, event.time)
    await record_failure(store, complaint, AUTHOR)


async def _named(store: GraphStore, names: Names, wanted: Sequence[str]) -> dict[str, Variable]:
    """The variables that an event names, by the event's word: an id, or a name that only one variable has."""
    ids = {name: names.id(Label.VARIABLE, name) for name in wanted}
    stored = {one.id: one for one in await store.get(Label.VARIABLE, list(ids.values())) if isinstance(one, Variable)}
    found = {}
    for name, id_ in ids.items():
        try:
            found[name] = stored[id_] if id_ in stored else await by_name(store, name, names.trace_id)
        except NotFoundError:
            raise EventRefusedError(f"there is no variable {name!r} in this trace", is_early=True) from None
        except AmbiguousError as error:
            raise EventRefusedError(str(error)) from None
    return found


async def _asked(store: GraphStore, answer: Variable) -> str:
    found = (await questions_of(store, [answer]))[answer.id]
    if not found:
        # The events that lead to the answer may come later, because events may be sent in any order.
        raise EventRefusedError("question: no query led to the answer; name what was asked", is_early=True)
    if len(found) > 1:
        raise EventRefusedError(f"question: {len(found):,} may have been meant; name the one that was asked")
    return found[0].id
