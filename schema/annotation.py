"""What is kept of people's work on failures beside their verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from schema.errors import InputError
from schema.ids import make_id
from schema.people import MAX_NAME, check_person

MAX_CHANGES = 1000
"""So often one person's verdict on a failure may be changed."""


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """What a person said of a failure at a moment; the newest that is not undone is what they say.

    Attributes:
        attribution_id: the verdict, whose id stays the same while what it says changes.
        number: of the change, from 1; it was undone if later ones stand no more than it does.
        changed_by: the person; an admin may withdraw another person's verdict.
        said: JSON text, the whole verdict, its names in camel case; None if it was withdrawn.
        undone_at, undone_by: when this change was taken back, and by whom; None while it stands.
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

    RANDOM: any. UNSURE: those whose method is least sure, and those that no method has explained. DISAGREEMENT: those
    on which methods disagree. ERROR_TYPE: as many of each error type that methods name. SYSTEM: as many of each memory
    system, which are the traces of one name or source.
    """

    RANDOM = "random"
    UNSURE = "unsure"
    DISAGREEMENT = "disagreement"
    ERROR_TYPE = "errorType"
    SYSTEM = "system"


class Progress(StrEnum):
    """How far one person is with one case.

    RESERVED: they have it, until their reservation ends. DONE: they have submitted a verdict. SKIPPED: they left it to
    others. GONE: the failure was deleted.
    """

    RESERVED = "reserved"
    DONE = "done"
    SKIPPED = "skipped"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class AnnotationQueue:
    """Failures that people are to judge, each by several of them, blind to each other.

    Attributes:
        id: of the project and the name, so that a project has one queue of a name.
        ordering: by what the failures were chosen.
        seed: of all that is drawn: which failures, and each person's order of them.
        annotators: how many people judge each case.
        people: who may; anybody who may write where it is empty.
        reservation_seconds: how long a case is kept for a person.
        failure_ids: the cases.
        ranks: of each case, in the same order: those of a lower rank come first, whoever asks.
        closed_at: since when nobody gets a case of it; None while it is open.
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
    """One person and one case of a queue.

    Attributes:
        reserved_until: by the store's clock; None unless it is reserved.
        changed_at: by the store's clock; of two changes in a queue the later one has the later time.
        attribution_id: the verdict that was submitted.
        draft: JSON text: what the person wanted to submit, as long as it is not stored as a verdict.
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
    """The id of a project's queue of a name."""
    return make_id("AnnotationQueue", project_id, name)
