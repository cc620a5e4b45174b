"""Derivations: the causal edges."""

from datetime import datetime

import strawberry

from api.graphql import node, reads
from api.graphql.context import Info
from api.graphql.cost import LONG
from api.graphql.node import Node, is_model
from api.graphql.refs import OperationRef, VariableRef
from api.graphql.scalars import JSON, DerivationKind
from schema import models
from store.contract.answers import Label


@strawberry.type(
    description="A causal edge of the graph: an operation derived a target variable from a source variable."
)
class Derivation(Node):
    """The fields of ``schema.models.Derivation``."""

    is_type_of = is_model(models.Derivation)

    id: strawberry.ID = strawberry.field(description=node.ID)
    project_id: str = strawberry.field(description=node.PROJECT)
    trace_id: str = strawberry.field(description=node.TRACE)
    source: strawberry.ID = strawberry.field(
        description="The id of the source variable, from which the target was derived."
    )
    target: strawberry.ID = strawberry.field(description="The id of the target variable, which was derived.")
    operation_id: strawberry.ID = strawberry.field(description="The id of the operation that derived it.")
    external_id: str | None = strawberry.field(description=node.EXTERNAL)
    kind: DerivationKind = strawberry.field(
        description="How the target came from its source: Derivation is made from it, Read is a copy that a later "
        "operation read, Revision is its next version."
    )
    category: str | None = strawberry.field(description=node.CATEGORY)
    comment: str | None = strawberry.field(description=node.COMMENT, metadata=LONG)
    sequence: int = strawberry.field(description=node.SEQUENCE)
    created_at: datetime | None = strawberry.field(description="When it was recorded.")
    location: str | None = strawberry.field(description=node.LOCATION)
    attributes: JSON = strawberry.field(description=node.ATTRIBUTES)

    @strawberry.field(description="The source variable, from which the target was derived.")
    async def source_variable(self, info: Info) -> VariableRef | None:
        return await info.context.load(self.project_id, reads.elements, self.source, Label.VARIABLE)

    @strawberry.field(description="The target variable, which was derived.")
    async def target_variable(self, info: Info) -> VariableRef | None:
        return await info.context.load(self.project_id, reads.elements, self.target, Label.VARIABLE)

    @strawberry.field(description="The operation that derived it.")
    async def operation(self, info: Info) -> OperationRef | None:
        return await info.context.load(self.project_id, reads.elements, self.operation_id, Label.OPERATION)
