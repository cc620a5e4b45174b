"""Who gets which case of an annotation queue.

The functions decide without input or output: an engine locks the queue, passes a ``Bench``, and stores the decision.
An engine that has to repeat its transaction calls the function again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b

from schema.annotation import AnnotationQueue, Assignment, Progress
from schema.errors import InputError
from schema.ids import make_id

_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Bench:
    """A locked queue with all its assignments.

    Attributes:
        now: the time of the store's clock, but later than every earlier change of an assignment.
    """

    queue: AnnotationQueue
    assignments: Sequence[Assignment]
    now: datetime

    @classmethod
    def at(cls, queue: AnnotationQueue, assignments: Sequence[Assignment], clock: datetime) -> Bench:
        """A bench at a moment of the store's clock, also if the clock was set back."""
        last = max((one.changed_at + _TICK for one in assignments), default=clock)
        return cls(queue, assignments, max(clock, last))

    def own(self, person: str, failure_id: str) -> Assignment | None:
        """The assignment of a case to a person, if any."""
        return next((one for one in self.assignments if (one.person, one.failure_id) == (person, failure_id)), None)

    def has_room(self, failure_id: str, person: str) -> bool:
        """Whether a case has a free place for a person."""
        taken = sum(
            one.failure_id == failure_id and one.person != person and self.is_taken(one) for one in self.assignments
        )
        return taken < self.queue.annotators

    def takes(self, one: Assignment) -> bool:
        """Whether an open queue accepts a verdict on an assignment."""
        if one.progress is Progress.GONE:
            return False
        return self.is_taken(one) or self.has_room(one.failure_id, one.person)

    def is_taken(self, one: Assignment) -> bool:
        """Whether an assignment occupies a place of its case: it is done, or reserved."""
        return one.progress is Progress.DONE or self.is_live(one)

    def is_live(self, one: Assignment) -> bool:
        """Whether an assignment is a reservation that has not ended."""
        return one.progress is Progress.RESERVED and one.reserved_until is not None and one.reserved_until > self.now

    def reserved(self, person: str, failure_id: str, draft: str | None = None) -> Assignment:
        """A new reservation of a case; a verdict and a draft of an earlier assignment are kept."""
        before = self.own(person, failure_id)
        return Assignment(
            id=make_id("Assignment", self.queue.id, failure_id, person),
            project_id=self.queue.project_id,
            queue_id=self.queue.id,
            failure_id=failure_id,
            person=person,
            progress=Progress.RESERVED,
            reserved_until=self.now + timedelta(seconds=self.queue.reservation_seconds),
            changed_at=self.now,
            attribution_id=before.attribution_id if before else None,
            draft=draft or (before.draft if before else None),
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """The change of a queue, and the answer to the person.

    Attributes:
        assignment: to be stored in place of the assignment with the same id; None changes nothing.
        refusal: why the request was refused; None if it was granted.
    """

    assignment: Assignment | None
    refusal: str | None = None


Decide = Callable[[Bench], Decision]


def give_next(person: str) -> Decide:
    """Renew the person's reservation; without a reservation, give the first case in the person's order with room."""

    def decide(bench: Bench) -> Decision:
        _check_open(bench)
        _check_named(bench, person)
        own = {one.failure_id: one for one in bench.assignments if one.person == person}
        for one in own.values():
            if bench.is_live(one):
                return Decision(bench.reserved(person, one.failure_id))
        gone = {one.failure_id for one in bench.assignments if one.progress is Progress.GONE}
        taken = Counter(one.failure_id for one in bench.assignments if bench.is_taken(one))
        for failure_id in order_of(bench.queue, person):
            had = own.get(failure_id)
            if failure_id in gone or taken[failure_id] >= bench.queue.annotators:
                continue
            if had is None or had.progress is Progress.RESERVED:
                return Decision(bench.reserved(person, failure_id))
        return Decision(None)

    return decide


def hold(person: str, failure_id: str, draft: str) -> Decide:
    """Reserve a case while the person's verdict is being stored; the draft is kept even if the case is refused."""

    def decide(bench: Bench) -> Decision:
        own = bench.own(person, failure_id)
        if own is None:
            raise InputError("annotation", failure_id, "was not given to you: ask for the next case first")
        kept = replace(own, draft=draft, changed_at=bench.now)
        if bench.queue.closed_at is not None:
            return Decision(kept, f"the queue {bench.queue.name!r} is closed")
        if own.progress is Progress.GONE:
            return Decision(kept, "the failure was deleted")
        if own.progress is Progress.DONE:
            return Decision(kept)
        if not bench.takes(own):
            until = f" at {own.reserved_until:%H:%M:%S} UTC" if own.reserved_until else ""
            return Decision(
                kept,
                f"your reservation ended{until}, and {bench.queue.annotators} others have the case now",
            )
        return Decision(bench.reserved(person, failure_id, draft))

    return decide


def finish(person: str, failure_id: str, progress: Progress, attribution_id: str | None = None) -> Decide:
    """End a person's work on a case as done, skipped or gone."""

    def decide(bench: Bench) -> Decision:
        own = bench.own(person, failure_id)
        if own is None:
            raise InputError("annotation", failure_id, "was not given to you: ask for the next case first")
        if progress is Progress.SKIPPED:
            _check_open(bench)
            if own.progress is Progress.DONE:
                raise InputError("annotation", failure_id, "is submitted: undo that first")
        draft = own.draft if progress is Progress.SKIPPED else None
        return Decision(
            replace(
                own,
                progress=progress,
                reserved_until=None,
                changed_at=bench.now,
                attribution_id=attribution_id or own.attribution_id,
                draft=draft,
            )
        )

    return decide


def take_back(person: str, failure_id: str) -> Decide:
    """Reserve a case again for a person who skipped the case or has undone the verdict."""

    def decide(bench: Bench) -> Decision:
        _check_open(bench)
        own = bench.own(person, failure_id)
        if own is None or own.progress not in {Progress.DONE, Progress.SKIPPED}:
            raise InputError("annotation", failure_id, "is neither submitted nor skipped")
        if own.progress is Progress.SKIPPED and not bench.has_room(failure_id, person):
            raise InputError("annotation", failure_id, f"{bench.queue.annotators} others have the case now")
        return Decision(bench.reserved(person, failure_id))

    return decide


def last_act(assignments: Sequence[Assignment], person: str) -> Assignment | None:
    """The assignment that a person submitted or skipped last."""
    ended = [one for one in assignments if one.person == person and one.progress in {Progress.DONE, Progress.SKIPPED}]
    return max(ended, key=lambda one: one.changed_at, default=None)


def order_of(queue: AnnotationQueue, person: str) -> list[str]:
    """The cases in a person's own order: by rank, then shuffled by the queue's seed and the person's name."""

    def drawn(failure_id: str) -> bytes:
        return blake2b("\0".join((queue.seed, person, failure_id)).encode(), digest_size=8).digest()

    ranked = zip(queue.ranks, queue.failure_ids, strict=True)
    return [failure_id for _, _, failure_id in sorted((rank, drawn(id_), id_) for rank, id_ in ranked)]


def _check_open(bench: Bench) -> None:
    if bench.queue.closed_at is not None:
        raise InputError("queue", bench.queue.name, "is closed")


def _check_named(bench: Bench, person: str) -> None:
    if bench.queue.people and person not in bench.queue.people:
        raise InputError("queue", bench.queue.name, f"{person!r} is not among its annotators")
