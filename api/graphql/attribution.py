"""Attributions: verdicts, by methods and by people."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
import strawberry

from api.graphql import node, reads
from api.graphql.context import Info
from api.graphql.cost import LONG
from api.graphql.history import changes
from api.graphql.node import Node, is_model
from api.graphql.pages import First, page_size
from api.graphql.proof import Proof, proof_in
from api.graphql.refs import FailureRef, OperationRef, VariableRef, VerdictChangeRef
from api.graphql.scalars import JSON, ErrorType, QuestionKind
from attribution.verdicts.gold import on_earlier_gold
from attribution.verdicts.verdict import MOST_PIECES
from schema import models
from schema.damage import reading_stored
from store.contract.answers import Label
from store.contract.verdict_changes import is_adjudicated


@strawberry.type(
    description="A step of the path that proves a verdict: a variable, and whether it still holds the detail "
    "that the right answer needs."
)
class EvidenceStep:
    project_id: strawberry.Private[str]
    variable_id: strawberry.ID | None = strawberry.field(description="The variable.")
    operation_id: strawberry.ID | None = strawberry.field(description="The operation that leads to the variable.")
    link: str | None = strawberry.field(description="How this step is connected with the one before.")
    quote: str | None = strawberry.field(description="The relevant words, quoted from the variable.", metadata=LONG)
    holds: bool | None = strawberry.field(
        description="Whether the variable still holds the detail that the right answer needs."
    )

    @strawberry.field(description="The variable.")
    async def variable(self, info: Info) -> VariableRef | None:
        if self.variable_id is None:
            return None
        return await info.context.load(self.project_id, reads.elements, self.variable_id, Label.VARIABLE)

    @strawberry.field(description="The operation that leads to the variable.")
    async def operation(self, info: Info) -> OperationRef | None:
        return await operation_of(info, self.project_id, self.operation_id)


@strawberry.type(description="Another operation that could be at fault.")
class Candidate:
    project_id: strawberry.Private[str]
    error_type: ErrorType | None = strawberry.field(description="The error type in that case.")
    operation_id: strawberry.ID | None = strawberry.field(description="The operation.")
    confidence: float | None = strawberry.field(description="How likely this candidate is, from 0 to 1.")
    reason: str | None = strawberry.field(description="Why this operation could be at fault.", metadata=LONG)

    @strawberry.field(description="The operation.")
    async def operation(self, info: Info) -> OperationRef | None:
        return await operation_of(info, self.project_id, self.operation_id)


@strawberry.type(
    description="A piece of what the right answer needs, with the operation that lost the piece, or the fact that "
    "it reached the answer."
)
class PieceLoss:
    project_id: strawberry.Private[str]
    steps: strawberry.Private[list[dict[str, Any]]]
    piece: str = strawberry.field(description="The piece, quoted from the evidence.", metadata=LONG)
    error_type: ErrorType | None = strawberry.field(
        description="How the piece was lost; null if it reached the answer, or nobody knows."
    )
    operation_id: strawberry.ID | None = strawberry.field(
        description="The id of the operation that lost the piece; null if it reached the answer, or nobody knows."
    )
    confidence: float | None = strawberry.field(description="How sure this is, from 0 to 1.")
    reason: str | None = strawberry.field(description="The reason, in words.", metadata=LONG)
    reached: bool = strawberry.field(description="Whether the piece reached the answer.")
    path_length: int = strawberry.field(description="How many steps the path has.")

    @strawberry.field(description="The operation that lost the piece.")
    async def operation(self, info: Info) -> OperationRef | None:
        return await operation_of(info, self.project_id, self.operation_id)

    @strawberry.field(description="The path of the piece, from the message that states it to the place where it ended.")
    def path(self, first: First = 20) -> list[EvidenceStep]:
        return _path(self.project_id, self.steps[: page_size(first)])


@strawberry.type(
    description="A verdict on a failure: which error it was, the operation at fault, how sure that is, and the "
    "path of variables that proves it."
)
class Attribution(Node):
    """The fields of ``schema.models.Attribution``."""

    is_type_of = is_model(models.Attribution)

    id: strawberry.ID = strawberry.field(description=node.ID)
    project_id: str = strawberry.field(description=node.PROJECT)
    trace_id: str = strawberry.field(description=node.TRACE)
    failure_id: strawberry.ID = strawberry.field(description="The id of the failure.")
    error_type: ErrorType | None = strawberry.field(
        description="Why the answer is wrong; null if the method or person abstained."
    )
    operation_id: strawberry.ID | None = strawberry.field(
        description="The id of the decisive operation: the earliest faulty one whose correction would have given the "
        "right answer."
    )
    confidence: float | None = strawberry.field(
        description="How sure the verdict is, from 0 to 1; null if the verdict states no confidence."
    )
    method: str = strawberry.field(
        description="How the verdict was reached: flow, walk, llm, auto or oneshot (see `Method`), or human for a "
        "person's."
    )
    model: str | None = strawberry.field(description="The language model that was asked; null if none was.")
    reason: str | None = strawberry.field(description="The reason, in words.", metadata=LONG)
    tokens: int | None = strawberry.field(description="How many tokens the language model used.")
    cost: float | None = strawberry.field(
        description="What the language model cost, in the currency of the prices that were set for it."
    )
    seconds: float | None = strawberry.field(description="How long it took, in seconds.")
    created_at: datetime | None = strawberry.field(description="When the verdict was given.")
    author: str | None = strawberry.field(description="The person who gave the verdict; null if a method did.")
    attributes: JSON = strawberry.field(description=node.ATTRIBUTES)
    question_kind: QuestionKind | None = strawberry.field(
        description="What the right answer needs; null if the verdict does not say."
    )

    @strawberry.field(
        description="Whether it is the final word on a case of an annotation queue, which counts before all others."
    )
    def is_final(self: models.Attribution) -> bool:
        return is_adjudicated(self)

    @strawberry.field(
        description="Whether the gold answers were changed after this verdict was given. False if the verdict does "
        "not say which gold answers it was given on."
    )
    async def on_earlier_gold(self: models.Attribution, info: Info) -> bool:
        about = await info.context.load(self.project_id, reads.elements, self.failure_id, Label.FAILURE)
        return about is not None and on_earlier_gold(self, about)

    @strawberry.field(
        description="The path that proves the verdict, beginning with the evidence messages.", metadata={"size": 10}
    )
    def evidence(self: models.Attribution) -> list[EvidenceStep]:
        return path_of(self)

    @strawberry.field(
        description="Where each piece of what the right answer needs ended. Empty if the method or person follows no "
        "pieces.",
        metadata={"size": MOST_PIECES},
    )
    def losses(self) -> list[PieceLoss]:
        with reading_stored(f"verdict {self.id}"):
            return [
                PieceLoss(
                    project_id=self.project_id,
                    steps=loss["path"],
                    path_length=len(loss["path"]),
                    **_named(PieceLoss, loss),
                )
                for loss in msgspec.json.decode(self.losses)
            ]

    @strawberry.field(description="Other operations that could be at fault.", metadata={"size": 10})
    def candidates(self: models.Attribution) -> list[Candidate]:
        return candidates_of(self)

    @strawberry.field(
        description="What a replay of the program showed about the verdict (`memtrace replay`); null without a replay."
    )
    def proof(self: models.Attribution) -> Proof | None:
        return proof_in(self)

    @strawberry.field(description="The decisive operation.")
    async def operation(self, info: Info) -> OperationRef | None:
        return await operation_of(info, self.project_id, self.operation_id)

    @strawberry.field(
        description="The last changes of a person's verdict, the oldest first; empty for a method's.",
        metadata={"size": "first"},
    )
    async def history(self, info: Info, first: First = 20) -> list[VerdictChangeRef]:
        found = await info.context.load(self.project_id, changes, self.failure_id) or []
        return [one for one in found if one.attribution_id == self.id][-page_size(first) :]

    @strawberry.field(description="The failure.")
    async def failure(self, info: Info) -> FailureRef | None:
        return await info.context.load(self.project_id, reads.elements, self.failure_id, Label.FAILURE)


def path_of(verdict: models.Attribution) -> list[EvidenceStep]:
    """The path that proves a verdict."""
    with reading_stored(f"verdict {verdict.id}"):
        return _path(verdict.project_id, msgspec.json.decode(verdict.evidence))


def candidates_of(verdict: models.Attribution) -> list[Candidate]:
    """The candidates of a verdict."""
    with reading_stored(f"verdict {verdict.id}"):
        items = msgspec.json.decode(verdict.candidates)
        return [Candidate(project_id=verdict.project_id, **_named(Candidate, item)) for item in items]


def _path(project_id: str, steps: Sequence[dict[str, Any]]) -> list[EvidenceStep]:
    return [EvidenceStep(project_id=project_id, **_named(EvidenceStep, step)) for step in steps]


async def operation_of(info: Info, project_id: str, operation_id: str | None) -> models.Operation | None:
    """The operation with an id."""
    if operation_id is None:
        return None
    return await info.context.load(project_id, reads.elements, operation_id, Label.OPERATION)


_NAMES = {
    EvidenceStep: ("variable_id", "operation_id", "link", "quote", "holds"),
    Candidate: ("error_type", "operation_id", "confidence", "reason"),
    PieceLoss: ("piece", "error_type", "operation_id", "confidence", "reason", "reached"),
}


def _named(of: type, item: dict[str, Any]) -> dict[str, Any]:
    """The fields of a type from a stored object. Fields that other programs omitted are None."""
    found = {name: item.get(models.camel_case(name)) for name in _NAMES[of]}
    error_type = found.get("error_type")
    if error_type is not None:
        found["error_type"] = ErrorType(error_type)
    return found
