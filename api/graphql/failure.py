"""Failures: questions whose answers were judged wrong."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

import strawberry

from api.graphql import reads
from api.graphql.context import Info
from api.graphql.failure_columns import with_failure_columns
from api.graphql.history import changes_page
from api.graphql.node import Node, is_model
from api.graphql.pages import After, Connection, First, asked_page, connection
from api.graphql.refs import AnnotationQueueRef, AttributionRef, OperationRef, TraceRef, VariableRef, VerdictChangeRef
from api.graphql.spine import MaxBoxes, Spine, spine_of
from api.graphql.trace import trace_of
from api.graphql.why_not import WhyNot, why_not_of
from attribution.review.suspects import MOST_SUSPECTS, suspects
from attribution.spine.model import BOXES
from attribution.verdicts.stored import by_id, newest
from schema import annotation, models
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.contract.verdict_changes import is_adjudicated, is_human


@strawberry.type(description="A question whose answer was judged wrong.")
@with_failure_columns
class Failure(Node):
    """The columns come from ``attribution.verdicts.failure_columns``; the fields below lead to other types."""

    is_type_of = is_model(models.Failure)

    @strawberry.field(description="The trace of the failure.")
    async def trace(self: models.Failure, info: Info) -> TraceRef | None:
        return await trace_of(info, self.project_id, self.trace_id)

    @strawberry.field(description="The variable that holds the question.")
    async def question_variable(self: models.Failure, info: Info) -> VariableRef | None:
        return await _variable(info, self.project_id, self.question_id)

    @strawberry.field(
        description="The variable that holds the answer: the one made by the operation that answered this question."
    )
    async def answer_variable(self: models.Failure, info: Info) -> VariableRef | None:
        return await _variable(info, self.project_id, self.answer_id)

    @strawberry.field(description="The variable that holds the gold answers.")
    async def expected_variable(self: models.Failure, info: Info) -> VariableRef | None:
        return await _variable(info, self.project_id, self.expected_id)

    @strawberry.field(
        description="The evidence: messages that hold the right answer, as the data set says.", metadata={"size": 10}
    )
    async def evidence(self: models.Failure, info: Info) -> list[VariableRef]:
        found = await asyncio.gather(*(_variable(info, self.project_id, id_) for id_ in self.evidence_ids))
        return [variable for variable in found if variable is not None]

    @strawberry.field(
        description="The verdicts on this failure, by methods and by people, oldest first.", metadata={"size": 5}
    )
    async def verdicts(
        self: models.Failure,
        info: Info,
        with_replaced: Annotated[
            bool,
            strawberry.argument(
                description="Whether to list verdicts, too, that a newer one of the same person, or of the same method "
                "and model, replaced: after a change of the rules or of the gold answer."
            ),
        ] = False,
    ) -> list[AttributionRef]:
        found = await info.context.load(self.project_id, reads.verdicts, self.id) or []
        return found if with_replaced else newest(found, self)

    @strawberry.field(
        description="Whether verdicts on the failure are withheld from you, because you have still to judge it in "
        "an open annotation queue."
    )
    async def is_withheld(self: models.Failure, info: Info) -> bool:
        return bool(await info.context.load(self.project_id, _withheld, self.id))

    @strawberry.field(
        description="The open annotation queues in which you have still to judge the failure.",
        metadata={"cost": 20, "size": 2},
    )
    async def to_judge_in(self: models.Failure, info: Info) -> list[AnnotationQueueRef]:
        return await info.context.load(self.project_id, _withheld_by, self.id) or []

    @strawberry.field(
        description="Operations that may be at fault: the last operations that led to the answer, and the operations "
        "that handled the evidence or its derivatives, in the order of the trace. The graph alone decides, not the "
        f"verdicts; at most {MOST_SUSPECTS}.",
        metadata={"cost": 200, "size": MOST_SUSPECTS},
    )
    async def suspects(self: models.Failure, info: Info) -> list[OperationRef]:
        return await info.context.load(self.project_id, _suspects, self.id) or []

    @strawberry.field(description="Your own verdict on it, without a final word that you have said; null if none.")
    async def own_verdict(self: models.Failure, info: Info) -> AttributionRef | None:
        author = info.context.access.principal.author
        for one in await info.context.load(self.project_id, reads.verdicts, self.id) or []:
            if is_human(one) and one.author == author and not is_adjudicated(one):
                return one
        return None

    @strawberry.field(
        description="Every change of people's verdicts on this failure, the oldest first. Changes that were undone "
        "are included."
    )
    async def verdict_history(
        self: models.Failure, info: Info, first: First = 20, after: After = None
    ) -> Connection[VerdictChangeRef]:
        return connection(info, await changes_page(info, self, *asked_page(info, first, after)))

    @strawberry.field(
        description="What was there and was not chosen, for each piece that the right answer needed. It is computed"
        " from the trace when you ask; no verdict is needed. Empty if the answer needed no piece, or if"
        " no piece can be followed.",
        metadata={"cost": 2000, "size": 8},
    )
    async def why_not(self: models.Failure, info: Info) -> list[WhyNot]:
        return await why_not_of(info, self)

    @strawberry.field(
        description="The causal past of the answer as a picture of at most `maxBoxes` boxes. The evidence, every "
        "loss, the question, the answer and its direct sources have boxes of their own; all other "
        "variables share boxes. It is computed when you ask.",
        metadata={"cost": 1000},
    )
    async def spine(self: models.Failure, info: Info, max_boxes: MaxBoxes = BOXES) -> Spine:
        return await spine_of(info, self, max_boxes)


async def _withheld(store: GraphStore, failure_ids: Sequence[str]) -> dict[str, bool]:
    return dict.fromkeys(await store.withheld(failure_ids), True)


async def _withheld_by(store: GraphStore, failure_ids: Sequence[str]) -> dict[str, list[annotation.AnnotationQueue]]:
    return await store.withheld_by(failure_ids)


async def _suspects(store: GraphStore, failure_ids: Sequence[str]) -> dict[str, list[models.Operation]]:
    return await suspects(store, list((await by_id(store, models.Failure, failure_ids)).values()))


async def _variable(info: Info, project_id: str, variable_id: str | None) -> models.Variable | None:
    if variable_id is None:
        return None
    return await info.context.load(project_id, reads.elements, variable_id, Label.VARIABLE)
