"""Annotation queues of a project: creation, look-up, progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex

from attribution.review.annotation.choose import choose
from ingest.events.feedback import EntryOf
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
    """The settings of a new queue.

    Attributes:
        seed: of the random order; None draws a seed.
        count: the maximal number of cases.
        trace_ids: only failures of these traces; all traces if empty.
        failure_ids: only these failures; all if empty.
        people: the annotators; empty for all people with the role writer.
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
    """Create a queue.

    Raises:
        InputError: a setting is out of range, there are no failures, or the name is taken.
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
    """Find a queue by name or id.

    Raises:
        NotFoundError: there is no such queue.
    """
    for id_ in (queue_id(project_id, reference), reference):
        try:
            return await queues.annotation_queue(id_)
        except NotFoundError:
            continue
    raise NotFoundError(reference, "queue")


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """One person's progress.

    Attributes:
        done: the number of submitted cases.
        reserved: the number of reserved cases.
        skipped: the number of skipped cases.
    """

    person: str
    done: int
    reserved: int
    skipped: int


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """The progress of a queue.

    Attributes:
        cases: the number of cases, without those whose failure was deleted.
        done: the number of cases with enough submitted verdicts.
        in_progress: the number of other cases that somebody has submitted or reserved.
        verdicts: the number of submitted verdicts.
        short: the number of cases that can't get enough verdicts, because too many of the queue's annotators skipped
            them.
        people: the queue's annotators and all people who had a case, by name.
    """

    cases: int
    done: int
    in_progress: int
    verdicts: int
    short: int
    people: list[PersonProgress] = field(default_factory=list)


async def progress_of(queues: Annotations, queue: AnnotationQueue) -> QueueProgress:
    """The progress of a queue; reservations that ended by the store's clock don't count."""
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
