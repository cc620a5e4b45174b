"""Operations."""

from datetime import datetime

import strawberry

from api.graphql import node, reads
from api.graphql.context import Info
from api.graphql.cost import LONG
from api.graphql.lineage import AsOf, DirectionArgument, Kinds, MaxHops, MaxNodes, bounds, lineage_of
from api.graphql.node import Node, is_model
from api.graphql.pages import First, page_size
from api.graphql.refs import LineageRef, SessionRef, TraceRef, VariableRef
from api.graphql.scalars import JSON, Direction, OperationKind, Status
from api.graphql.trace import session_of, trace_of
from attribution.trace import not_returned as search
from schema import models
from schema.errors import NotFoundError
from store.contract.answers import OperationDetail


@strawberry.type(description="The memory units that a retrieval did not return.")
class NotReturned:
    """The fields of ``attribution.trace.not_returned.NotReturned``."""

    held: int = strawberry.field(description="How many units the memory held.")
    count: int = strawberry.field(description="How many of them the retrieval did not return.")
    units: list[VariableRef] = strawberry.field(description="Some of these.", metadata={"size": 20})


@strawberry.type(
    description="One step that makes new variables from others, such as an extraction, a retrieval or an "
    "evaluation by a judge."
)
class Operation(Node):
    """The fields of ``schema.models.Operation``."""

    is_type_of = is_model(models.Operation)

    id: strawberry.ID = strawberry.field(description=node.ID)
    project_id: str = strawberry.field(description=node.PROJECT)
    trace_id: str = strawberry.field(description=node.TRACE)
    session_id: str | None = strawberry.field(description="The id of the session.")
    external_id: str = strawberry.field(description=node.EXTERNAL)
    name: str | None = strawberry.field(description="Its name in the source.")
    kind: OperationKind = strawberry.field(description="The kind of step.")
    category: str | None = strawberry.field(description=node.CATEGORY)
    comment: str | None = strawberry.field(description=node.COMMENT, metadata=LONG)
    status: Status = strawberry.field(description="How it ended.")
    sequence: int = strawberry.field(description=node.SEQUENCE)
    started_at: datetime | None = strawberry.field(description="When it began.")
    ended_at: datetime | None = strawberry.field(description="When it ended.")
    location: str | None = strawberry.field(description=node.LOCATION)
    attributes: JSON = strawberry.field(description=node.ATTRIBUTES)

    @strawberry.field(description="The trace of the operation.")
    async def trace(self, info: Info) -> TraceRef | None:
        return await trace_of(info, self.project_id, self.trace_id)

    @strawberry.field(description="The session of the operation.")
    async def session(self, info: Info) -> SessionRef | None:
        return await session_of(info, self.project_id, self.session_id)

    @strawberry.field(description="The operation's inputs, in order.", metadata={"size": "first"})
    async def used(self, info: Info, first: First = 20) -> list[VariableRef]:
        return (await _detail(self, info)).used[: page_size(first)]

    @strawberry.field(description="The operation's outputs, in order.", metadata={"size": "first"})
    async def generated(self, info: Info, first: First = 20) -> list[VariableRef]:
        return (await _detail(self, info)).generated[: page_size(first)]

    @strawberry.field(
        description="The variables that the operation ended, as a deletion does.", metadata={"size": "first"}
    )
    async def invalidated(self, info: Info, first: First = 20) -> list[VariableRef]:
        return (await _detail(self, info)).invalidated[: page_size(first)]

    @strawberry.field(
        description="The memory units that a retrieval left out, those first that share most words with its query; "
        "null for other operations, and where the results are not recorded as units.",
        metadata={"cost": 200, "size": "first"},
    )
    async def not_returned(self, info: Info, first: First = 20) -> NotReturned | None:
        most, store = page_size(first), info.context.door(self.project_id).store
        found = await search.not_returned(store, await _detail(self, info), most)
        return None if found is None else NotReturned(held=found.held, count=found.count, units=list(found.units))

    @strawberry.field(
        description="The lineage of all outputs of the operation: their causal past, or everything that depends on "
        "the outputs.",
        metadata={"cost": 50, "size": "maxNodes"},
    )
    async def lineage(
        self,
        info: Info,
        direction: DirectionArgument = Direction.BACKWARD,
        max_hops: MaxHops = None,
        max_nodes: MaxNodes = 500,
        kinds: Kinds = (),
        as_of: AsOf = None,
    ) -> LineageRef:
        asked = bounds(info, direction, max_hops, max_nodes, kinds, as_of)
        made = tuple(variable.id for variable in (await _detail(self, info)).generated)
        return await lineage_of(info, self.project_id, made, asked)


async def _detail(operation: Operation, info: Info) -> OperationDetail:
    found = await info.context.load(operation.project_id, reads.details, operation.id)
    if found is None:
        raise NotFoundError(operation.id, "operation")
    return found
