"""Annotation by a team: queues of failures, who has which case, and the history of people's verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from schema.errors import InputError
from schema.ids import make_id
from schema.people import MAX_NAME, check_person

MAX_CHANGES = 1000
"""How many changes the history of one verdict holds at most."""


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """One change of a person's verdict on a failure. The newest change that is not undone is the current verdict.

    Attributes:
        attribution_id: id of the verdict; a change of the verdict keeps the id.
        number: of the change within the history of the verdict, from 1.
        changed_by: the author, or the admin who withdrew the verdict.
        said: JSON text, the whole verdict with names in camel case; None if the change withdrew the verdict.
        undone_at, undone_by: when and by whom the change was undone; None if it was not.
    """

    id: str
    project_id: str
    trace_id: str
    failure_id: str
    attribution_id: str
    number: int
    changed_at: datetime
    changed_by: str
    said: str | None
    undone_at: datetime | None = None
    undone_by: str | None = None


MAX_CASES = 2000
MAX_PEOPLE = 100
MAX_ANNOTATORS = 20
MAX_OPEN_QUEUES = 50
MAX_RESERVATION_SECONDS = 7 * 24 * 3600


class CaseOrder(StrEnum):
    """Which failures a queue takes first.

    RANDOM: any failure. UNSURE: failures without a verdict, and failures whose verdicts have a low confidence.
    DISAGREEMENT: failures with verdicts of different error types. ERROR_TYPE: equally many of each error type that
    methods name. SYSTEM: equally many of each memory system, that is, of the traces with one name or source.
    """

    RANDOM = "random"
    UNSURE = "unsure"
    DISAGREEMENT = "disagreement"
    ERROR_TYPE = "errorType"
    SYSTEM = "system"


class Progress(StrEnum):
    """The state of a case for one annotator.

    RESERVED: the annotator has the case until the reservation ends. DONE: the annotator has submitted a verdict.
    SKIPPED: the annotator left the case to others. GONE: the failure was deleted.
    """

    RESERVED = "reserved"
    DONE = "done"
    SKIPPED = "skipped"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class AnnotationQueue:
    """Failures to annotate: several people judge each case without seeing the verdicts of others.

    Attributes:
        id: hash of project and name, so that names of queues are unique in a project.
        ordering: how the failures were chosen.
        seed: of the random choice of failures, and of each person's order of the cases.
        annotators: how many people judge each case.
        people: the people who may annotate; if empty, every writer of the project may.
        reservation_seconds: how long a case is reserved for a person.
        failure_ids: the cases.
        ranks: one rank for each of ``failure_ids``; every annotator gets cases with a lower rank first.
        closed_at: when the queue stopped giving out cases; None while the queue is open.
    """

    id: str
    project_id: str
    name: str
    ordering: CaseOrder
    seed: str
    annotators: int
    people: tuple[str, ...]
    reservation_seconds: int
    failure_ids: tuple[str, ...]
    ranks: tuple[int, ...]
    created_at: datetime
    created_by: str
    closed_at: datetime | None = None
    closed_by: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.name) <= MAX_NAME or self.name != self.name.strip() or not self.name.isprintable():
            raise InputError("queue", "name", f"a name of 1 to {MAX_NAME} characters without spaces around is needed")
        for place, value, most in (
            ("annotators", self.annotators, MAX_ANNOTATORS),
            ("reservation", self.reservation_seconds, MAX_RESERVATION_SECONDS),
        ):
            if not 1 <= value <= most:
                raise InputError("queue", place, f"{value:,} is not from 1 to {most:,}")
        if not 1 <= len(self.failure_ids) <= MAX_CASES:
            raise InputError("queue", "cases", f"{len(self.failure_ids):,} failures are not from 1 to {MAX_CASES:,}")
        if len(self.people) > MAX_PEOPLE:
            raise InputError("queue", "people", f"more than {MAX_PEOPLE}")
        if 0 < len(self.people) < self.annotators:
            raise InputError("queue", "people", f"{len(self.people)} people are too few for {self.annotators} a case")
        for person in self.people:
            check_person(person, "queue", "people")


@dataclass(frozen=True, slots=True)
class Assignment:
    """A case of a queue, assigned to one person.

    Attributes:
        reserved_until: by the store's clock; None unless ``progress`` is RESERVED.
        changed_at: by the store's clock; strictly increasing within a queue.
        attribution_id: the verdict that the person submitted.
        draft: JSON text, a submission of the person that is not stored as a verdict yet.
    """

    id: str
    project_id: str
    queue_id: str
    failure_id: str
    person: str
    progress: Progress
    reserved_until: datetime | None
    changed_at: datetime
    attribution_id: str | None = None
    draft: str | None = None


def queue_id(project_id: str, name: str) -> str:
    """The id of a project's queue, from its name."""
    return make_id("AnnotationQueue", project_id, name)
