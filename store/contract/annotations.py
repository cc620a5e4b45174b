"""What a store keeps of annotating as a team: queues of failures, and who has which. Both engines do all of it."""

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
    """What one person is still to judge in one queue."""

    queue: AnnotationQueue
    failure_ids: frozenset[str]


class Annotations(Protocol):
    """The queues of one project."""

    async def add_queue(self, queue: AnnotationQueue, entry: AuditEntry | None = None) -> AnnotationQueue:
        """Keep a new queue, and return it. An entry of the audit log is written in its transaction, here and below.

        Raises:
            InputError: it is of another project, or there is a queue of this name.
        """
        ...

    async def queue_page(self, first: int = 100, after: str | None = None) -> Page[AnnotationQueue]:
        """Queues, the newest first, also closed ones."""
        ...

    async def annotation_queue(self, queue_id: str) -> AnnotationQueue:
        """A queue.

        Raises:
            NotFoundError: this project has no such queue.
        """
        ...

    async def close_queue(self, queue_id: str, by: str, entry: AuditEntry | None = None) -> AnnotationQueue:
        """Close a queue, by the store's clock; one that is closed stays as it is.

        Raises:
            NotFoundError: this project has no such queue.
        """
        ...

    async def delete_queue(self, queue_id: str, entry: AuditEntry | None = None) -> AnnotationQueue:
        """Delete a queue with its assignments; verdicts stay.

        Raises:
            NotFoundError: this project has no such queue.
        """
        ...

    async def clock(self) -> datetime:
        """The store's time, by which reservations end."""
        ...

    async def assignments(self, queue_id: str) -> list[Assignment]:
        """All assignments of a queue, by person and failure; none of a queue that does not exist."""
        ...

    async def assign(self, queue_id: str, decide: Decide, entry: AuditEntry | None = None) -> Decision:
        """Change who has what in a queue. Of several who ask at once, each sees what those before it have got.

        Args:
            queue_id: the queue.
            decide: says what is to become of it; it may be called several times, and changes nothing itself.
            entry: for the audit log; it is written if an assignment is.

        Raises:
            NotFoundError: this project has no such queue.
        """
        ...

    async def to_judge(self, person: str) -> list[ToJudge]:
        """The open queues of which a person is an annotator, each with the cases that they have not submitted.

        They are an annotator of a queue if it names them, or if they have had a case of it.
        """
        ...

    async def withheld(self, person: str) -> frozenset[str]:
        """The failures whose verdicts a person may not see yet: those that they are to judge in any queue."""
        return frozenset(id_ for one in await self.to_judge(person) for id_ in one.failure_ids)


def taken(queue: AnnotationQueue) -> InputError:
    """The error that says that there is a queue of this name."""
    return InputError("queue", "name", f"there is a queue {queue.name!r} already: give this one another name")


def to_judge_of(queues: Iterable[AnnotationQueue], own: Sequence[Assignment]) -> list[ToJudge]:
    """See ``Annotations.to_judge``.

    Args:
        queues: the open ones of which the person is an annotator.
        own: all assignments of the person.
    """
    done: Mapping[str, set[str]] = {one.queue_id: set() for one in own}
    for one in own:
        if one.progress is Progress.DONE:
            done[one.queue_id].add(one.failure_id)
    return [ToJudge(queue, frozenset(queue.failure_ids) - done.get(queue.id, set())) for queue in queues]
