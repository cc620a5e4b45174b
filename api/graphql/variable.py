"""Variables with values and versions."""

from datetime import datetime
from typing import Annotated

import strawberry

from api.graphql import node, reads
from api.graphql.context import Info
from api.graphql.cost import LONG
from api.graphql.lineage import AsOf, DirectionArgument, Kinds, MaxHops, MaxNodes, bounds, lineage_of
from api.graphql.node import Node, is_model
from api.graphql.pages import First, page_size
from api.graphql.refs import DerivationRef, LineageRef, OperationRef, SessionRef, TraceRef, VariableRef
from api.graphql.scalars import JSON, BigInt, Direction, VariableKind
from api.graphql.trace import session_of, trace_of
from schema import models
from schema.errors import InputError
from store.contract.answers import Label

MAX_WINDOW = 1_000_000
MAX_VALUE = 24 << 20


@strawberry.type(description="A part of a variable's value, as text. Read values that are not text over HTTP.")
class ValueWindow:
    text: str = strawberry.field(description="The text of this part, which begins at `offset`.")
    offset: int = strawberry.field(description="Where this part begins in the value, in characters.")
    total: int = strawberry.field(description="How many characters the whole value has.")
    is_whole: bool = strawberry.field(description="Whether this part is the whole value.")


@strawberry.type(
    description="An immutable value at a moment: a message, a prompt, an answer, or a version of a memory unit (a "
    "thing that the agent remembers)."
)
class Variable(Node):
    """The fields of ``schema.models.Variable``."""

    is_type_of = is_model(models.Variable)

    id: strawberry.ID = strawberry.field(description=node.ID)
    project_id: str = strawberry.field(description=node.PROJECT)
    trace_id: str = strawberry.field(description=node.TRACE)
    session_id: str | None = strawberry.field(description="The id of the session.")
    external_id: str = strawberry.field(description=node.EXTERNAL)
    name: str = strawberry.field(description="The name; all versions of a variable have the same name.")
    class_name: str | None = strawberry.field(description="Its class in the recorded program.")
    version: int = strawberry.field(description="Its version number among the variables with this name, from 0.")
    occurrence: int = strawberry.field(
        description="0 for the variable as it was recorded. Where the source used one node for several reads, each "
        "read is a variable of its own, numbered 1, 2, …"
    )
    kind: VariableKind = strawberry.field(description="The kind of value.")
    category: str | None = strawberry.field(description=node.CATEGORY)
    comment: str | None = strawberry.field(description=node.COMMENT, metadata=LONG)
    preview: str = strawberry.field(description="The first 500 characters of its value.", metadata=LONG)
    value_hash: str = strawberry.field(description="The hash of its value, by which the value is stored.")
    size: BigInt = strawberry.field(description="The size of its value in bytes (text as UTF-8).")
    media_type: str = strawberry.field(description="The media type of its value, such as `text/plain`.")
    sequence: int = strawberry.field(description=node.SEQUENCE)
    created_at: datetime | None = strawberry.field(description="When it was made.")
    location: str | None = strawberry.field(description=node.LOCATION)
    attributes: JSON = strawberry.field(description=node.ATTRIBUTES)
    operation_id: str | None = strawberry.field(description="The id of the operation that made it.")
    revision_of: str | None = strawberry.field(description="The id of its previous version; null if it has none.")
    right: bool | None = strawberry.field(
        description="For an answer, whether it was judged right (true) or wrong (false); null if nobody has judged it."
    )

    @strawberry.field(
        description="A part of the value, or the whole value.", metadata={"cost": 5, "per": ("length", 200)}
    )
    async def value(
        self: models.Variable,
        info: Info,
        offset: Annotated[int, strawberry.argument(description="Where to begin in the value, in characters.")] = 0,
        length: Annotated[
            int, strawberry.argument(description=f"How many characters at most, 1 to {MAX_WINDOW}.")
        ] = 20_000,
    ) -> ValueWindow:
        if not (offset >= 0 and 1 <= length <= MAX_WINDOW):
            raise InputError("value", "", f"offset must not be negative, and length from 1 to {MAX_WINDOW}")
        if self.size > MAX_VALUE:
            raise InputError("value", "", f"is larger than {MAX_VALUE:,} bytes: read it at /v1/values/{self.id}")
        window = await info.context.load(self.project_id, reads.windows, (self, offset, length))
        assert window is not None
        text, total = window
        return ValueWindow(text=text, offset=offset, total=total, is_whole=len(text) == total)

    @strawberry.field(description="The trace of the variable.")
    async def trace(self, info: Info) -> TraceRef | None:
        return await trace_of(info, self.project_id, self.trace_id)

    @strawberry.field(description="The session of the variable.")
    async def session(self, info: Info) -> SessionRef | None:
        return await session_of(info, self.project_id, self.session_id)

    @strawberry.field(description="The operation that made it; null if it came from outside.")
    async def operation(self, info: Info) -> OperationRef | None:
        if self.operation_id is None:
            return None
        return await info.context.load(self.project_id, reads.elements, self.operation_id, Label.OPERATION)

    @strawberry.field(
        description="The derivations from this variable's direct sources (one hop backward).",
        metadata={"size": "first"},
    )
    async def derived_from(self, info: Info, first: First = 20) -> list[DerivationRef]:
        size = page_size(first)
        return await info.context.load(self.project_id, reads.derivations, self.id, Direction.BACKWARD, size) or []

    @strawberry.field(
        description="The derivations into variables that were directly derived from this variable (one hop forward).",
        metadata={"size": "first"},
    )
    async def derivations(self, info: Info, first: First = 20) -> list[DerivationRef]:
        size = page_size(first)
        return await info.context.load(self.project_id, reads.derivations, self.id, Direction.FORWARD, size) or []

    @strawberry.field(
        description="For an answer, the queries in its past: a single query is its question. An answer without "
        "queries has the messages that its operation used. Empty for all other variables.",
        metadata={"cost": 50, "size": 5},
    )
    async def questions(self: models.Variable, info: Info) -> list[VariableRef]:
        if self.kind is not VariableKind.ANSWER:
            return []
        return await info.context.load(self.project_id, reads.questions, self) or []

    @strawberry.field(
        description="All versions with the same name, the oldest first, this version included.",
        metadata={"size": "first"},
    )
    async def versions(
        self,
        info: Info,
        first: First = 50,
        since: Annotated[int, strawberry.argument(description="The first version to give.")] = 0,
    ) -> list[VariableRef]:
        found = await info.context.load(self.project_id, reads.versions, self.id) or []
        return [version for version in found if version.version >= since][: page_size(first)]

    @strawberry.field(
        description="The causal past of the variable, or everything that depends on the variable, within the limits"
        " that you set.",
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
        return await lineage_of(info, self.project_id, (self.id,), asked)
