"""Records answers as right."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ingest.events.complaints import EntryOf, failures_of, trace_of
from schema.errors import InputError
from schema.kinds import VariableKind
from schema.models import Batch, Failure, Variable
from store.contract.protocol import GraphStore


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
