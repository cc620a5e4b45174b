"""Annotation queues: progress, agreement of annotators, disputed cases."""

from datetime import datetime
from typing import Annotated, TypeVar

import strawberry

from api.graphql import node, reads
from api.graphql.attribution import Candidate, EvidenceStep, candidates_of, operation_of, path_of
from api.graphql.comparison import Agreement, agreement_type
from api.graphql.context import Info
from api.graphql.node import is_model
from api.graphql.pages import After, Connection, First, asked_page, connection
from api.graphql.refs import AssignmentRef, AttributionRef, FailureRef, OperationRef
from api.graphql.scalars import JSON, CaseOrder, ErrorType, Progress
from attribution.review.annotation import disputes as disputing
from attribution.review.annotation.queues import progress_of
from attribution.review.labelling import export_labels
from schema import annotation, models
from schema.errors import InputError
from store.contract.answers import Label, Page
from store.contract.assigning import Bench

T = TypeVar("T")


@strawberry.type(description="How far one person is with an annotation queue.")
class PersonProgress:
    """The fields of ``attribution.review.annotation.queues.PersonProgress``."""

    person: str = strawberry.field(description="The name of the person.")
    done: int = strawberry.field(description="How many cases they have submitted.")
    reserved: int = strawberry.field(description="How many cases they have now.")
    skipped: int = strawberry.field(description="How many cases they have skipped.")


@strawberry.type(description="How far an annotation queue is.")
class QueueProgress:
    """The fields of ``attribution.review.annotation.queues.QueueProgress``."""

    cases: int = strawberry.field(description="How many cases it has, without failures that were deleted.")
    done: int = strawberry.field(description="How many cases as many people as needed have submitted.")
    in_progress: int = strawberry.field(description="How many other cases somebody has, or has submitted.")
    verdicts: int = strawberry.field(description="How many verdicts were submitted.")
    short: int = strawberry.field(
        description="How many cases can't be done, for too many of the people whom the queue names have skipped them."
    )
    people: list[PersonProgress] = strawberry.field(description="By person.", metadata={"size": 20})


@strawberry.type(
    description="How far the annotators of a queue agree on the cases that as many of them as needed have submitted. "
    "An abstention is a class of its own. Cases that you are still to annotate are left out."
)
class QueueAgreement:
    """The fields of ``attribution.review.annotation.agreement.QueueAgreement``."""

    cases: int = strawberry.field(description="The number of these cases.")
    agreed: int = strawberry.field(
        description="In how many cases all annotators name the same error type and operation."
    )
    changed: int = strawberry.field(
        description="In how many cases an annotator changed error type or operation later, and so may have seen the"
        " other verdicts by then."
    )
    type_kappa: float | None = strawberry.field(
        description="Fleiss' kappa of the error types; null without cases, and if chance alone would always agree."
    )
    operation_kappa: float | None = strawberry.field(description="Fleiss' kappa of the operations.")
    joint_kappa: float | None = strawberry.field(description="Fleiss' kappa of error type and operation together.")
    pairs: list[Agreement] = strawberry.field(
        description="Agreement of each two people who have submitted the same cases.", metadata={"size": 20}
    )


@strawberry.type(description="The verdict of one annotator on a disputed case, without the annotator's name.")
class DisputeSide:
    """The fields of ``attribution.review.annotation.disputes.Side``."""

    verdict: strawberry.Private[models.Attribution]
    name: str = strawberry.field(description="A, B, …: a name that hides who the annotator is.")

    @strawberry.field(description="Why the answer is wrong; null if they abstained.")
    def error_type(self) -> ErrorType | None:
        return self.verdict.error_type

    @strawberry.field(description="The id of the operation at fault.")
    def operation_id(self) -> strawberry.ID | None:
        return None if self.verdict.operation_id is None else strawberry.ID(self.verdict.operation_id)

    @strawberry.field(description="The operation at fault.")
    async def operation(self, info: Info) -> OperationRef | None:
        return await operation_of(info, self.verdict.project_id, self.verdict.operation_id)

    @strawberry.field(description="The reason, in words.")
    def reason(self) -> str | None:
        return self.verdict.reason

    @strawberry.field(description="How sure they are, from 0 to 1.")
    def confidence(self) -> float | None:
        return self.verdict.confidence

    @strawberry.field(description="What else they would accept.", metadata={"size": 5})
    def candidates(self) -> list[Candidate]:
        return candidates_of(self.verdict)

    @strawberry.field(description="The variables that show the fault.", metadata={"size": 5})
    def evidence(self) -> list[EvidenceStep]:
        return path_of(self.verdict)


@strawberry.type(
    description="A case on which annotators disagree about the error type or the operation, or which has a final word."
)
class Dispute:
    """The fields of ``attribution.review.annotation.disputes.Dispute``."""

    failure: FailureRef = strawberry.field(description="The failure.")
    sides: list[DisputeSide] = strawberry.field(
        description="The verdict of each annotator, in an order that hides who gave it.", metadata={"size": 3}
    )
    adjudicated: AttributionRef | None = strawberry.field(description="The final word; null while there is none.")


@strawberry.type(description="A person and a case of an annotation queue.")
class Assignment:
    """The fields of ``schema.annotation.Assignment``."""

    is_type_of = is_model(annotation.Assignment)

    id: strawberry.ID = strawberry.field(description=node.ID)
    failure_id: strawberry.ID = strawberry.field(description="The id of the failure.")
    person: str = strawberry.field(description="The name of the person.")
    progress: Progress = strawberry.field(description="How far the person is with the case.")
    reserved_until: datetime | None = strawberry.field(
        description="Until when the case is kept for the person; null unless it is reserved."
    )
    changed_at: datetime = strawberry.field(description="When this changed last.")

    @strawberry.field(
        description="How many seconds the case is still kept for the person, by the clock of the store; 0 after the"
        " reservation has ended, null without a reservation."
    )
    async def seconds_left(self: annotation.Assignment, info: Info) -> int | None:
        if self.reserved_until is None:
            return None
        left = self.reserved_until - await info.context.door(self.project_id).records.clock()
        return max(0, int(left.total_seconds()))

    @strawberry.field(
        description="Whether a verdict of this person would be accepted now: the queue is open, and the case is "
        "kept for the person, was submitted by the person, or needs another annotator.",
        metadata={"cost": 20},
    )
    async def can_submit(self: annotation.Assignment, info: Info) -> bool:
        records = info.context.door(self.project_id).records
        queue = await records.annotation_queue(self.queue_id)
        bench = Bench(queue, await records.assignments(self.queue_id), await records.clock())
        return queue.closed_at is None and bench.takes(self)

    @strawberry.field(description="The failure; null if it was deleted.")
    async def failure(self: annotation.Assignment, info: Info) -> FailureRef | None:
        return await info.context.load(self.project_id, reads.elements, self.failure_id, Label.FAILURE)

    @strawberry.field(
        description="What the person wanted to submit, until it is stored as a verdict. Only the person sees it."
    )
    def draft(self: annotation.Assignment, info: Info) -> JSON | None:
        is_own = self.person == info.context.access.principal.author
        return JSON(self.draft) if is_own and self.draft is not None else None


@strawberry.type(
    description="Failures that people judge, each by several of them, who don't see each other's verdicts before they "
    "have submitted their own."
)
class AnnotationQueue:
    """The fields of ``schema.annotation.AnnotationQueue``."""

    is_type_of = is_model(annotation.AnnotationQueue)

    id: strawberry.ID = strawberry.field(description=node.ID)
    project_id: str = strawberry.field(description=node.PROJECT)
    name: str = strawberry.field(description="Its name.")
    ordering: CaseOrder = strawberry.field(description="Which failures come first.")
    seed: str = strawberry.field(description="With the same seed the same failures are drawn again.")
    annotators: int = strawberry.field(description="How many people judge each case.")
    people: list[str] = strawberry.field(
        description="The names of the annotators. If empty, anybody with the role writer may annotate."
    )
    reservation_seconds: int = strawberry.field(description="For how many seconds a case is kept for a person.")
    created_at: datetime = strawberry.field(description="When it was made.")
    created_by: str = strawberry.field(description="Who made it.")
    closed_at: datetime | None = strawberry.field(description="When it was closed; null while it is open.")
    closed_by: str | None = strawberry.field(description="Who closed it.")

    @strawberry.field(description="How far it is.", metadata={"cost": 20})
    async def progress(self: annotation.AnnotationQueue, info: Info) -> QueueProgress:
        found = await progress_of(info.context.door(self.project_id).records, self)
        people = [
            PersonProgress(person=one.person, done=one.done, reserved=one.reserved, skipped=one.skipped)
            for one in found.people
        ]
        return QueueProgress(
            cases=found.cases,
            done=found.done,
            in_progress=found.in_progress,
            verdicts=found.verdicts,
            short=found.short,
            people=people,
        )

    @strawberry.field(description="The cases that you have had or have now, the last first.", metadata={"cost": 20})
    async def mine(
        self: annotation.AnnotationQueue, info: Info, first: First = 20, after: After = None
    ) -> Connection[AssignmentRef]:
        size, cursor = asked_page(info, first, after)
        door = info.context.door(self.project_id)
        own = [one for one in await door.records.assignments(self.id) if one.person == door.author]
        own.sort(key=lambda one: one.changed_at, reverse=True)
        return connection(info, _page(own, [one.id for one in own], size, cursor))

    @strawberry.field(
        description="What you have to do with a case; null if it was not given to you.", metadata={"cost": 20}
    )
    async def assignment(
        self: annotation.AnnotationQueue,
        info: Info,
        failure: Annotated[strawberry.ID, strawberry.argument(description="The id of the failure.")],
    ) -> AssignmentRef | None:
        door = info.context.door(self.project_id)
        found = await door.records.assignments(self.id)
        return next((one for one in found if (one.person, one.failure_id) == (door.author, failure)), None)

    @strawberry.field(description="How far its annotators agree.", metadata={"cost": 200})
    async def agreement(self: annotation.AnnotationQueue, info: Info) -> QueueAgreement:
        door = info.context.door(self.project_id)
        found = await disputing.agreement_of(door.store, door.records, self)
        return QueueAgreement(
            cases=found.cases,
            agreed=found.agreed,
            changed=found.changed,
            type_kappa=found.type_kappa,
            operation_kappa=found.operation_kappa,
            joint_kappa=found.joint_kappa,
            pairs=[agreement_type(one) for one in found.pairs],
        )

    @strawberry.field(
        description="The disputed cases, in the order of the queue. A case counts once as many people as needed "
        "have submitted it; in a closed queue two people are enough. Cases with a final word are "
        "included, even if the annotators agree.",
        metadata={"cost": 200},
    )
    async def disputes(
        self: annotation.AnnotationQueue, info: Info, first: First = 20, after: After = None
    ) -> Connection[Dispute]:
        size, cursor = asked_page(info, first, after)
        door = info.context.door(self.project_id)
        found = [dispute_type(one) for one in await disputing.disputes(door.store, door.records, self)]
        return connection(info, _page(found, [one.failure.id for one in found], size, cursor))

    @strawberry.field(
        description="A disputed case (see `disputes`); null if the case is not disputed.",
        metadata={"cost": 200},
    )
    async def dispute(
        self: annotation.AnnotationQueue,
        info: Info,
        failure: Annotated[strawberry.ID, strawberry.argument(description="The id of the failure.")],
    ) -> Dispute | None:
        door = info.context.door(self.project_id)
        found = await disputing.disputes(door.store, door.records, self)
        return next((dispute_type(one) for one in found if one.failure.id == failure), None)

    @strawberry.field(
        description="The verdicts of people on the queue's cases as labels: one JSON object a line, as "
        "`importLabels` takes them. `primary` is null for an abstention. Verdicts that are withheld "
        "from you are left out.",
        metadata={"cost": 500},
    )
    async def labels(self: annotation.AnnotationQueue, info: Info) -> str:
        async with info.context.in_turn:  # the verdicts of one queue may take megabytes
            found = await export_labels(info.context.door(self.project_id).store, self.failure_ids)
        return b"".join(one.line() for one in found).decode()


def dispute_type(found: disputing.Dispute) -> Dispute:
    """The GraphQL type of a disputed case."""
    sides = [DisputeSide(name=one.name, verdict=one.verdict) for one in found.sides]
    return Dispute(failure=found.failure, sides=sides, adjudicated=found.adjudicated)


def _page(items: list[T], ids: list[str], first: int, after: str | None) -> Page[T]:
    start = 0
    if after is not None:
        if after not in ids:
            raise InputError("after", "", "is not a cursor of this list")
        start = ids.index(after) + 1
    shown = items[start : start + first]
    return Page(shown, ids[start + len(shown) - 1] if len(items) > start + len(shown) else None)
