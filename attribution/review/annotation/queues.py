"""Queues of a project: made, found, and how far each is."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex

from attribution.review.annotation.choose import choose
from ingest.events.complaints import EntryOf
from schema.annotation import MAX_OPEN_QUEUES, AnnotationQueue, Assignment, CaseOrder, Progress, queue_id
from schema.errors import InputError, NotFoundError
from store.contract.annotations import Annotations
from store.contract.assigning import Bench
from store.contract.protocol import GraphStore
from store.shared.paging import every

ANNOTATORS = 2
RESERVATION_MINUTES = 30
CASES = 100


@dataclass(frozen=True, slots=True)
class QueueWish:
    """What queue somebody wants.

    Attributes:
        seed: of what is drawn; None draws one.
        count: how many cases at most.
        trace_ids: only failures of these traces; of all if it is empty.
        failure_ids: only these failures; all if it is empty.
        people: who may annotate; anybody who may write if it is empty.
    """

    name: str
    ordering: CaseOrder = CaseOrder.RANDOM
    seed: str | None = None
    count: int = CASES
    annotators: int = ANNOTATORS
    people: tuple[str, ...] = ()
    trace_ids: tuple[str, ...] = ()
    reservation_minutes: int = RESERVATION_MINUTES
    failure_ids: tuple[str, ...] = ()


async def create_queue(
    store: GraphStore, queues: Annotations, wish: QueueWish, by: str, entry_of: EntryOf | None = None
) -> AnnotationQueue:
    """Make a queue.

    Raises:
        InputError: something is out of range, there are no failures, or there is a queue of this name.
    """
    open_ = [one.name async for one in every_queue(queues) if one.closed_at is None]
    if len(open_) >= MAX_OPEN_QUEUES:
        raise InputError("queue", "", f"{len(open_)} queues are open: close one first")
    seed = token_hex(8) if wish.seed is None else wish.seed
    chosen = await choose(store, wish.ordering, seed, wish.count, wish.trace_ids, wish.failure_ids)
    queue = AnnotationQueue(
        id=queue_id(store.project_id, wish.name),
        project_id=store.project_id,
        name=wish.name,
        ordering=wish.ordering,
        seed=seed,
        annotators=wish.annotators,
        people=tuple(dict.fromkeys(wish.people)),
        reservation_seconds=wish.reservation_minutes * 60,
        failure_ids=chosen.failure_ids,
        ranks=chosen.ranks,
        created_at=datetime.now(UTC),
        created_by=by,
    )
    return await queues.add_queue(queue, entry_of(queue.id) if entry_of else None)


def every_queue(queues: Annotations) -> AsyncIterator[AnnotationQueue]:
    """All queues of a project, the newest first."""
    return every(lambda after: queues.queue_page(after=after))


async def find_queue(queues: Annotations, project_id: str, reference: str) -> AnnotationQueue:
    """The queue with a name, or with an id.

    Raises:
        NotFoundError: there is none.
    """
    for id_ in (queue_id(project_id, reference), reference):
        try:
            return await queues.annotation_queue(id_)
        except NotFoundError:
            continue
    raise NotFoundError(reference, "queue")


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """How far one person is.

    Attributes:
        done: cases that they have submitted.
        reserved: cases that they have now.
        skipped: cases that they have skipped.
    """

    person: str
    done: int
    reserved: int
    skipped: int


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """How far a queue is.

    Attributes:
        cases: how many there are, without those whose failure was deleted.
        done: cases that as many people as needed have submitted.
        in_progress: cases of which somebody has submitted or reserved one, and that are not done.
        verdicts: how many were submitted.
        short: cases that can't be done, for the queue names who may annotate, and too many of these have skipped them.
        people: those who have had a case, by name, and those whom the queue names.
    """

    cases: int
    done: int
    in_progress: int
    verdicts: int
    short: int
    people: list[PersonProgress] = field(default_factory=list)


async def progress_of(queues: Annotations, queue: AnnotationQueue) -> QueueProgress:
    """How far a queue is; reservations that have ended by the store's clock are none."""
    return _progress(queue, await queues.assignments(queue.id), await queues.clock())


def _progress(queue: AnnotationQueue, assignments: Sequence[Assignment], now: datetime) -> QueueProgress:
    bench = Bench(queue, assignments, now)
    gone = {one.failure_id for one in assignments if one.progress is Progress.GONE}
    done = Counter(one.failure_id for one in assignments if one.progress is Progress.DONE)
    begun = {one.failure_id for one in assignments if bench.is_taken(one)}
    finished = {id_ for id_, count in done.items() if count >= queue.annotators}
    names = sorted({*queue.people, *(one.person for one in assignments)})
    named = len(queue.people)
    skipped = Counter(one.failure_id for one in assignments if one.progress is Progress.SKIPPED)
    short = {id_ for id_, count in skipped.items() if named and named - count < queue.annotators}
    return QueueProgress(
        cases=len(set(queue.failure_ids) - gone),
        done=len(finished - gone),
        in_progress=len(begun - finished - gone),
        verdicts=done.total(),
        short=len(short - finished - gone),
        people=[_of_person(bench, name) for name in names],
    )


def _of_person(bench: Bench, person: str) -> PersonProgress:
    own = [one for one in bench.assignments if one.person == person]
    counts = Counter(one.progress for one in own)
    return PersonProgress(person, counts[Progress.DONE], sum(map(bench.is_live, own)), counts[Progress.SKIPPED])
