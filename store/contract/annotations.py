"""Annotation queues of a project: failures that a team judges, and which annotator has which case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from schema.annotation import AnnotationQueue, Assignment, Progress
from schema.control import AuditEntry
from schema.errors import InputError
from store.contract.answers import Page
from store.contract.assigning import Decide, Decision


@dataclass(frozen=True, slots=True)
class ToJudge:
    """The cases of a queue that one person has not judged yet."""

    queue: AnnotationQueue
    failure_ids: frozenset[str]


class Annotations(Protocol):
    """The queues of one project."""

    async def add_queue(self, queue: AnnotationQueue, entry: AuditEntry | None = None) -> AnnotationQueue:
        """Add a queue, and return the queue. ``entry``, here and below, goes to the audit log in the same transaction.

        Raises:
            InputError: the queue is of another project, or its name is taken.
        """
        ...

    async def queue_page(self, first: int = 100, after: str | None = None) -> Page[AnnotationQueue]:
        """Open and closed queues, the newest first."""
        ...

    async def annotation_queue(self, queue_id: str) -> AnnotationQueue:
        """A queue by its id.

        Raises:
            NotFoundError: the project has no queue with this id.
        """
        ...

    async def close_queue(self, queue_id: str, by: str, entry: AuditEntry | None = None) -> AnnotationQueue:
        """Close a queue, at the time of the store's clock; a closed queue is returned unchanged.

        Raises:
            NotFoundError: the project has no queue with this id.
        """
        ...

    async def delete_queue(self, queue_id: str, entry: AuditEntry | None = None) -> AnnotationQueue:
        """Delete a queue with its assignments, and return the queue; verdicts stay.

        Raises:
            NotFoundError: the project has no queue with this id.
        """
        ...

    async def clock(self) -> datetime:
        """The current time of the store, by which reservations end."""
        ...

    async def assignments(self, queue_id: str) -> list[Assignment]:
        """All assignments of a queue, ordered by person and failure; empty for an unknown queue."""
        ...

    async def assign(self, queue_id: str, decide: Decide, entry: AuditEntry | None = None) -> Decision:
        """Change one assignment of a queue. Concurrent calls run one after the other.

        Args:
            queue_id: the queue.
            decide: chooses the change; called again if the transaction is repeated, so without side effects.
            entry: for the audit log; written only with an assignment.

        Returns:
            What ``decide`` chose.

        Raises:
            NotFoundError: the project has no queue with this id.
        """
        ...

    async def to_judge(self, person: str) -> list[ToJudge]:
        """The open queues that a person annotates, each with the cases without a submitted verdict of the person.

        A person annotates a queue that names the person, or that has given the person a case.
        """
        ...

    async def withheld(self, person: str) -> frozenset[str]:
        """The failures whose verdicts a person may not see yet: all cases of ``to_judge``."""
        return frozenset(id_ for one in await self.to_judge(person) for id_ in one.failure_ids)


def taken(queue: AnnotationQueue) -> InputError:
    """The error for a queue whose name is taken."""
    return InputError("queue", "name", f"there is a queue {queue.name!r} already: give this one another name")


def to_judge_of(queues: Iterable[AnnotationQueue], own: Sequence[Assignment]) -> list[ToJudge]:
    """The result of ``Annotations.to_judge``.

    Args:
        queues: the open queues that the person annotates.
        own: all assignments of the person.
    """
    done: Mapping[str, set[str]] = {one.queue_id: set() for one in own}
    for one in own:
        if one.progress is Progress.DONE:
            done[one.queue_id].add(one.failure_id)
    return [ToJudge(queue, frozenset(queue.failure_ids) - done.get(queue.id, set())) for queue in queues]
