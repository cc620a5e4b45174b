"""What people change when they annotate failures as a team."""

import asyncio
from functools import partial
from typing import Annotated

import strawberry

from api.auth.access import ProjectDoor
from api.graphql.context import Info
from api.graphql.inputs import AnnotationQueueInput, LabelsInput, VerdictInput
from api.graphql.judgements import judgement_of
from api.graphql.problems import Problem, Problems, outcome
from api.graphql.refs import AnnotationQueueRef, AssignmentRef, AttributionRef, FailureRef
from api.graphql.resolving import id_of, ids_of
from api.graphql.scalars import Role
from attribution.review.annotation.disputes import adjudicate
from attribution.review.annotation.queues import QueueWish, create_queue, find_queue
from attribution.review.annotation.work import Bench, RefusedError
from attribution.review.history import undo_verdict
from attribution.review.labelling import check_own, import_labels
from attribution.review.labels import labels_of
from store.contract.answers import Label

ProjectName = Annotated[str, strawberry.argument(description="The project.")]
QueueName = Annotated[str, strawberry.argument(description="The annotation queue: its name or its id.")]
FailureName = Annotated[
    strawberry.ID, strawberry.argument(description="The failure: an id, or a unique prefix of one.")
]


@strawberry.type(description="The last change of a verdict was undone.")
class VerdictUndone:
    id: strawberry.ID = strawberry.field(description="The id of the verdict.")
    attribution: AttributionRef | None = strawberry.field(
        description="The verdict as it was before; null if there was none before."
    )


@strawberry.type(description="An annotation queue was made or closed.")
class QueueChanged:
    queue: AnnotationQueueRef = strawberry.field(description="The queue.")


@strawberry.type(description="An annotation queue was deleted. The verdicts stay.")
class QueueDeleted:
    id: strawberry.ID = strawberry.field(description="The id of what was removed.")


@strawberry.type(description="You have a case of an annotation queue, or nothing is left there for you.")
class CaseGiven:
    assignment: AssignmentRef | None = strawberry.field(
        description="The case, and until when it is kept for you; null if nothing is left for you."
    )
    failure: FailureRef | None = strawberry.field(description="The failure; null if nothing is left for you.")


@strawberry.type(description="A verdict on a case was stored.")
class CaseSubmitted:
    assignment: AssignmentRef = strawberry.field(description="The case.")
    attribution: AttributionRef = strawberry.field(description="The verdict.")


@strawberry.type(
    description="A verdict on a case was not taken: your reservation had ended and others have the case, or the queue "
    "is closed. What you said is kept as a draft."
)
class CaseRefused(Problem):
    """See ``attribution.review.annotation.work.RefusedError``."""

    assignment: AssignmentRef = strawberry.field(description="The case, with the draft.")


@strawberry.type(description="The final word on a case was stored.")
class Adjudicated:
    attribution: AttributionRef = strawberry.field(description="The final word.")


@strawberry.type(description="A label that was not imported, because the project lacks something that the label names.")
class UnmatchedLabel:
    """See ``attribution.review.labelling.Unmatched``."""

    line: int = strawberry.field(description="The number of its line, from 1.")
    missing: str = strawberry.field(description="What is missing: `trace`, `failure`, `prediction` or `operation`.")
    reason: str = strawberry.field(description="The missing thing, and why it is missing.")


@strawberry.type(description="Labels were imported as verdicts of people.")
class LabelsImported:
    imported: int = strawberry.field(description="How many labels stand in the project now.")
    unchanged: int = strawberry.field(description="How many labels were stored before, unchanged.")
    unmatched: list[UnmatchedLabel] = strawberry.field(
        description="The labels that were not imported.", metadata={"size": 20}
    )


ImportLabelsResult = Annotated[
    LabelsImported | Problems,
    strawberry.union("ImportLabelsResult", description="What was imported, or why nothing was."),
]
UndoVerdictResult = Annotated[
    VerdictUndone | Problems,
    strawberry.union("UndoVerdictResult", description="What stands now, or why nothing was undone."),
]
QueueResult = Annotated[
    QueueChanged | Problems, strawberry.union("QueueResult", description="The queue, or why it was not changed.")
]
DeleteQueueResult = Annotated[
    QueueDeleted | Problems,
    strawberry.union("DeleteQueueResult", description="What was removed, or why nothing was."),
]
CaseResult = Annotated[
    CaseGiven | Problems, strawberry.union("CaseResult", description="The case, or why you did not get one.")
]
SubmitCaseResult = Annotated[
    CaseSubmitted | CaseRefused | Problems,
    strawberry.union("SubmitCaseResult", description="The stored verdict, or why nothing was stored."),
]
AdjudicateResult = Annotated[
    Adjudicated | Problems,
    strawberry.union("AdjudicateResult", description="The final word, or why nothing was stored."),
]


@strawberry.type
class AnnotationMutations:
    """Mutations about annotating."""

    @strawberry.mutation(
        description="Undo the last change of your verdict on a failure: what you said before stands again, or nothing "
        "if that was the first. A verdict that was withdrawn comes back. Needs the role writer.",
        metadata={"cost": 20},
    )
    @outcome
    async def undo_verdict(self, info: Info, project: ProjectName, failure: FailureName) -> UndoVerdictResult:
        door = info.context.door(project, Role.WRITER)
        found = await id_of(door.store, Label.FAILURE, failure)
        undone = await undo_verdict(door.store, found, door.author, partial(door.entry, "undoVerdict"))
        return VerdictUndone(id=strawberry.ID(undone.attribution_id), attribution=undone.verdict)

    @strawberry.mutation(
        description="Store the labels of a file as verdicts of people; those without an author are yours. If a line is "
        "no label, nothing is stored. Needs the role writer; labels of other people, and final words, need the role "
        "admin.",
        metadata={"cost": 500},
    )
    @outcome
    async def import_labels(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[LabelsInput, strawberry.argument(description="The file.")],
    ) -> ImportLabelsResult:
        door = info.context.door(project, Role.WRITER)
        labels = await asyncio.to_thread(labels_of, input.content.encode("utf-8", "replace"), input.name)
        if not door.role.allows(Role.ADMIN):
            check_own(labels, door.author, input.name)
        done = await import_labels(door.store, labels, door.author, input.name, partial(door.entry, "importLabels"))
        unmatched = [UnmatchedLabel(line=one.line, missing=one.missing, reason=one.reason) for one in done.unmatched]
        return LabelsImported(imported=done.imported, unchanged=done.unchanged, unmatched=unmatched)

    @strawberry.mutation(
        description="Make a queue of failures that people are to judge. Needs the role writer.",
        metadata={"cost": 500},
    )
    @outcome
    async def create_annotation_queue(
        self,
        info: Info,
        project: ProjectName,
        input: Annotated[AnnotationQueueInput, strawberry.argument(description="Which failures, and how many people.")],
    ) -> QueueResult:
        door = info.context.door(project, Role.WRITER)
        wish = QueueWish(
            name=input.name,
            ordering=input.ordering,
            seed=input.seed,
            count=input.count,
            annotators=input.annotators,
            people=tuple(input.people),
            trace_ids=tuple(await ids_of(door.store, Label.TRACE, input.traces)),
            reservation_minutes=input.reservation_minutes,
            failure_ids=tuple(await ids_of(door.store, Label.FAILURE, input.failures)),
        )
        entry_of = partial(door.entry, "createAnnotationQueue")
        return QueueChanged(queue=await create_queue(door.store, door.records, wish, door.author, entry_of))

    @strawberry.mutation(
        description="Close an annotation queue: nobody gets a case of it any more, and nothing is withheld from its "
        "annotators. Closing it again changes nothing. Needs the role admin.",
        metadata={"cost": 20},
    )
    @outcome
    async def close_annotation_queue(self, info: Info, project: ProjectName, queue: QueueName) -> QueueResult:
        door = info.context.door(project, Role.ADMIN)
        found = await find_queue(door.records, door.project_id, queue)
        entry = door.entry("closeAnnotationQueue", found.id)
        return QueueChanged(queue=await door.records.close_queue(found.id, door.author, entry))

    @strawberry.mutation(
        description="Delete an annotation queue, and who has had which case. The verdicts stay. Needs the role admin.",
        metadata={"cost": 20},
    )
    @outcome
    async def delete_annotation_queue(self, info: Info, project: ProjectName, queue: QueueName) -> DeleteQueueResult:
        door = info.context.door(project, Role.ADMIN)
        found = await find_queue(door.records, door.project_id, queue)
        await door.records.delete_queue(found.id, door.entry("deleteAnnotationQueue", found.id))
        return QueueDeleted(id=strawberry.ID(found.id))

    @strawberry.mutation(
        description="Get the next case of an annotation queue. It is kept for you for a while; as long as you have "
        "one, you get the same again. Needs the role annotator.",
        metadata={"cost": 20},
    )
    @outcome
    async def next_case(self, info: Info, project: ProjectName, queue: QueueName) -> CaseResult:
        case = await (await _bench(info.context.door(project, Role.ANNOTATOR), queue)).next()
        return CaseGiven(assignment=case.assignment if case else None, failure=case.failure if case else None)

    @strawberry.mutation(
        description="Submit your verdict on a case that you have, or change the one that you have submitted. Needs the "
        "role annotator.",
        metadata={"cost": 50},
    )
    @outcome
    async def submit_case(
        self,
        info: Info,
        project: ProjectName,
        queue: QueueName,
        input: Annotated[VerdictInput, strawberry.argument(description="Your verdict.")],
    ) -> SubmitCaseResult:
        door = info.context.door(project, Role.ANNOTATOR)
        bench = await _bench(door, queue)
        try:
            done = await bench.submit(await judgement_of(door.store, input))
        except RefusedError as error:
            return CaseRefused(message=str(error), code="REFUSED", assignment=error.assignment)
        return CaseSubmitted(assignment=done.assignment, attribution=done.verdict)

    @strawberry.mutation(
        description="Skip a case that you have. Other people get the case; you don't get it again. Needs the role "
        "annotator.",
        metadata={"cost": 20},
    )
    @outcome
    async def skip_case(self, info: Info, project: ProjectName, queue: QueueName, failure: FailureName) -> CaseResult:
        door = info.context.door(project, Role.ANNOTATOR)
        bench = await _bench(door, queue)
        assignment = await bench.skip(await id_of(door.store, Label.FAILURE, failure))
        return CaseGiven(assignment=assignment, failure=None)

    @strawberry.mutation(
        description="Undo what you did last in an annotation queue, or did last with one case of it: a case that you "
        "have submitted or skipped is yours again. If you had changed your verdict, the one before stands again. Needs "
        "the role annotator.",
        metadata={"cost": 50},
    )
    @outcome
    async def undo_case(
        self,
        info: Info,
        project: ProjectName,
        queue: QueueName,
        failure: Annotated[
            strawberry.ID | None,
            strawberry.argument(description="The case; null is the one with which you did something last."),
        ] = None,
    ) -> CaseResult:
        door = info.context.door(project, Role.ANNOTATOR)
        bench = await _bench(door, queue)
        case = await bench.undo(None if failure is None else await id_of(door.store, Label.FAILURE, failure))
        return CaseGiven(assignment=case.assignment, failure=case.failure)

    @strawberry.mutation(
        description="Say the final word on a case that two people or more have submitted. The final word then "
        "counts as the verdict of people. For writers who have not judged the case, and for admins.",
        metadata={"cost": 50},
    )
    @outcome
    async def adjudicate(
        self,
        info: Info,
        project: ProjectName,
        queue: QueueName,
        input: Annotated[VerdictInput, strawberry.argument(description="The final word.")],
    ) -> AdjudicateResult:
        door = info.context.door(project, Role.WRITER)
        found = await find_queue(door.records, door.project_id, queue)
        final = await adjudicate(
            door.store,
            door.records,
            found,
            await judgement_of(door.store, input),
            door.author,
            is_admin=door.role.allows(Role.ADMIN),
            entry_of=partial(door.entry, "adjudicate"),
        )
        return Adjudicated(attribution=final)


async def _bench(door: ProjectDoor, queue: str) -> Bench:
    return await Bench.at(door.store, door.records, queue, door.author, door.entry)
