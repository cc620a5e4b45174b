"""Attributions: verdicts, by methods and by people."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
import strawberry

from api.graphql import node, reads
from api.graphql.context import Info
from api.graphql.node import Node, is_model
from api.graphql.refs import FailureRef, OperationRef, VariableRef
from api.graphql.scalars import JSON, ErrorType
from schema import models
from store.answers import Label


@strawberry.type(description="A step of the path that proves a verdict: a variable, and whether it holds the detail.")
class EvidenceStep:
    """A step of an evidence path."""

    project_id: strawberry.Private[str]
    variable_id: strawberry.ID | None = strawberry.field(description="The variable.")
    operation_id: strawberry.ID | None = strawberry.field(description="The operation that leads to it.")
    link: str | None = strawberry.field(description="How this step is joined to the one before.")
    quote: str | None = strawberry.field(description="The words in question, as they stand in the variable.")
    holds: bool | None = strawberry.field(description="Whether the variable still holds the detail.")

    @strawberry.field(description="The variable.")
    async def variable(self, info: Info) -> VariableRef | None:
        """The variable."""
        if self.variable_id is None:
            return None
        return await info.context.load(self.project_id, reads.elements, self.variable_id, Label.VARIABLE)

    @strawberry.field(description="The operation that leads to it.")
    async def operation(self, info: Info) -> OperationRef | None:
        """The operation."""
        return await operation_of(info, self.project_id, self.operation_id)


@strawberry.type(description="Another operation in question.")
class Candidate:
    """A candidate of a verdict."""

    project_id: strawberry.Private[str]
    error_type: ErrorType | None = strawberry.field(description="What its fault would be.")
    operation_id: strawberry.ID | None = strawberry.field(description="The operation.")
    confidence: float | None = strawberry.field(description="How sure that would be, 0 to 1.")
    reason: str | None = strawberry.field(description="Why it is in question.")

    @strawberry.field(description="The operation.")
    async def operation(self, info: Info) -> OperationRef | None:
        """The operation."""
        return await operation_of(info, self.project_id, self.operation_id)


@strawberry.type(
    description="A verdict on a failure: what went wrong, where, how sure that is, and the path that proves it."
)
class Attribution(Node):
    """Read off ``schema.models.Attribution``."""

    is_type_of = is_model(models.Attribution)

    id: strawberry.ID = strawberry.field(description=node.ID)
    project_id: str = strawberry.field(description=node.PROJECT)
    trace_id: str = strawberry.field(description=node.TRACE)
    failure_id: strawberry.ID = strawberry.field(description="The id of the failure that it explains.")
    error_type: ErrorType | None = strawberry.field(description="Why the answer is wrong; null is an abstention.")
    operation_id: strawberry.ID | None = strawberry.field(description="The id of the decisive operation.")
    confidence: float | None = strawberry.field(description="How sure it is, 0 to 1; people give none.")
    method: str = strawberry.field(description="How it was reached: flow, llm, auto, oneshot, or human.")
    model: str | None = strawberry.field(description="The language model that was asked.")
    reason: str | None = strawberry.field(description="Why, in words.")
    tokens: int | None = strawberry.field(description="Tokens that it took.")
    cost: float | None = strawberry.field(description="What it cost, in the currency of the model's prices.")
    seconds: float | None = strawberry.field(description="How long it took.")
    created_at: datetime | None = strawberry.field(description="When it was given.")
    author: str | None = strawberry.field(description="The person who gave it; null for a method.")
    attributes: JSON = strawberry.field(description=node.ATTRIBUTES)

    @strawberry.field(description="The path that proves it, from the evidence on.", metadata={"size": 10})
    def evidence(self) -> list[EvidenceStep]:
        """The path."""
        steps = msgspec.json.decode(self.evidence)
        return [EvidenceStep(project_id=self.project_id, **_named(EvidenceStep, step)) for step in steps]

    @strawberry.field(description="Other operations in question.", metadata={"size": 10})
    def candidates(self) -> list[Candidate]:
        """The candidates."""
        items = msgspec.json.decode(self.candidates)
        return [Candidate(project_id=self.project_id, **_named(Candidate, item)) for item in items]

    @strawberry.field(description="The decisive operation.")
    async def operation(self, info: Info) -> OperationRef | None:
        """The operation."""
        return await operation_of(info, self.project_id, self.operation_id)

    @strawberry.field(description="The failure that it explains.")
    async def failure(self, info: Info) -> FailureRef | None:
        """The failure."""
        return await info.context.load(self.project_id, reads.elements, self.failure_id, Label.FAILURE)


async def operation_of(info: Info, project_id: str, operation_id: str | None) -> models.Operation | None:
    """The operation with an id."""
    if operation_id is None:
        return None
    return await info.context.load(project_id, reads.elements, operation_id, Label.OPERATION)


_NAMES = {
    EvidenceStep: ("variable_id", "operation_id", "link", "quote", "holds"),
    Candidate: ("error_type", "operation_id", "confidence", "reason"),
}


def _named(of: type, item: dict[str, Any]) -> dict[str, Any]:
    """What a stored object says of the fields of a type; other programs may have left some out."""
    found = {name: item.get(models.camel_case(name)) for name in _NAMES[of]}
    error_type = found.get("error_type")
    if error_type is not None:
        found["error_type"] = ErrorType(error_type)
    return found
