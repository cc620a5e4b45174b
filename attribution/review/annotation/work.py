"""An annotator's actions: get a case, submit a verdict, skip the case, undo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from attribution.review.annotation.queues import find_queue
from attribution.review.history import undo_verdict
from attribution.review.people import Judgement, checked_verdict, write_verdict
from attribution.verdicts.stored import by_id
from ingest.events.feedback import EntryOf
from schema.annotation import AnnotationQueue, Assignment, Progress
from schema.control import AuditEntry
from schema.errors import InputError, NotFoundError
from schema.models import Attribution, Failure
from store.contract.annotations import Annotations
from store.contract.assigning import finish, give_next, hold, last_act, take_back
from store.contract.protocol import GraphStore

Entry = Callable[[str, str | None], AuditEntry]
"""Makes an entry of the audit log from an action and a target."""


class RefusedError(InputError):
    """A verdict was refused, because others have the case now; the verdict is kept as a draft.

    Attributes:
        assignment: with the draft.
    """

    def __init__(self, assignment: Assignment, reason: str) -> None:
        super().__init__("annotation", assignment.failure_id, f"{reason}; what you said is kept as a draft")
        self.assignment = assignment


@dataclass(frozen=True, slots=True)
class AssignedFailure:
    """A case assigned to a person."""

    assignment: Assignment
    failure: Failure


@dataclass(frozen=True, slots=True)
class Submitted:
    """A case with a person's submitted verdict."""

    assignment: Assignment
    verdict: Attribution


class Bench:
    """One person at one queue."""

    def __init__(
        self, store: GraphStore, queues: Annotations, queue: AnnotationQueue, person: str, entry: Entry | None = None
    ) -> None:
        self._store = store
        self._queues = queues
        self._queue = queue
        self._person = person
        self._entry = entry

    @classmethod
    async def at(
        cls, store: GraphStore, queues: Annotations, reference: str, person: str, entry: Entry | None = None
    ) -> Bench:
        """A person at the queue with this name or id.

        Raises:
            NotFoundError: there is no such queue.
        """
        return cls(store, queues, await find_queue(queues, store.project_id, reference), person, entry)

    async def next(self) -> AssignedFailure | None:
        """The person's current case, or a new one, which is then reserved; None if no case is left for the person.

        Raises:
            InputError: the queue is closed, or not open to this person.
        """
        while True:
            given = await self._queues.assign(self._queue.id, give_next(self._person), self._told("reserveCase"))
            if given.assignment is None:
                return None
            failure_id = given.assignment.failure_id
            found = await by_id(self._store, Failure, [failure_id])
            if found:
                return AssignedFailure(given.assignment, found[failure_id])
            await self._queues.assign(self._queue.id, finish(self._person, failure_id, Progress.GONE))

    async def submit(self, judgement: Judgement) -> Submitted:
        """Store a person's verdict on a current case, or on an earlier case that still lacks verdicts.

        Raises:
            RefusedError: the case has enough verdicts, or the queue is closed.
            InputError: the case was not assigned to the person, or the verdict is invalid.
            NotFoundError: the failure, or an element named by the verdict, does not exist.
        """
        trace, verdict = await checked_verdict(self._store, judgement, self._person)
        failure_id = judgement.failure_id
        held = await self._queues.assign(self._queue.id, hold(self._person, failure_id, _draft(judgement)))
        assert held.assignment is not None
        if held.refusal is not None:
            raise RefusedError(held.assignment, held.refusal)
        await write_verdict(self._store, trace, verdict, self._entry_of("submitCase"))
        done = await self._queues.assign(self._queue.id, finish(self._person, failure_id, Progress.DONE, verdict.id))
        assert done.assignment is not None
        return Submitted(done.assignment, verdict)

    async def skip(self, failure_id: str) -> Assignment:
        """Leave a case to others; the person does not get it again.

        Raises:
            InputError: the case was not assigned to the person, or is submitted.
        """
        decide = finish(self._person, failure_id, Progress.SKIPPED)
        done = await self._queues.assign(self._queue.id, decide, self._told("skipCase", failure_id))
        assert done.assignment is not None
        return done.assignment

    async def undo(self, failure_id: str | None = None) -> AssignedFailure:
        """Undo the person's last action in the queue: a submitted or skipped case is assigned again.

        If the person changed a submitted verdict, the earlier verdict is restored, and the case stays submitted.

        Args:
            failure_id: the case; None for the case of the last action.

        Raises:
            InputError: there is nothing to undo, the queue is closed, or others have the case now.
            NotFoundError: the failure was deleted.
        """
        if self._queue.closed_at is not None:
            raise InputError("queue", self._queue.name, "is closed")
        assignments = await self._queues.assignments(self._queue.id)
        last = last_act([one for one in assignments if failure_id in {None, one.failure_id}], self._person)
        if last is None:
            where = "here" if failure_id is None else f"on the case {failure_id}"
            raise InputError("queue", self._queue.name, f"{self._person!r} has nothing to undo {where}")
        found = await by_id(self._store, Failure, [last.failure_id])
        if not found:
            raise NotFoundError(last.failure_id, Failure.__name__)
        failure = found[last.failure_id]
        if last.progress is Progress.DONE and await self._is_said_still(failure.id):
            return AssignedFailure(last, failure)
        told = self._told("undoCase", last.failure_id)
        back = await self._queues.assign(self._queue.id, take_back(self._person, last.failure_id), told)
        assert back.assignment is not None
        return AssignedFailure(back.assignment, failure)

    async def _is_said_still(self, failure_id: str) -> bool:
        """Whether a verdict by the person remains after the last change was undone."""
        try:
            undone = await undo_verdict(self._store, failure_id, self._person, self._entry_of("undoVerdict"))
        except InputError:  # an interrupted undo has already removed the verdict
            return False
        return undone.verdict is not None

    def _told(self, action: str, target: str | None = None) -> AuditEntry | None:
        return self._entry(action, target or self._queue.id) if self._entry else None

    def _entry_of(self, action: str) -> EntryOf | None:
        entry = self._entry
        return None if entry is None else lambda target: entry(action, target)


def _draft(judgement: Judgement) -> str:
    said: dict[str, Any] = asdict(judgement)
    return msgspec.json.encode(said).decode()
