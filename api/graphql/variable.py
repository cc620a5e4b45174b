"""Variables, their values and their versions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import strawberry

from api.graphql import node, reads
from api.graphql.context import Info
from api.graphql.lineage import AsOf, DirectionArgument, Kinds, MaxHops, MaxNodes, bounds, lineage_of
from api.graphql.node import Node, is_model
from api.graphql.pages import First, page_size
from api.graphql.refs import DerivationRef, LineageRef, OperationRef, SessionRef, TraceRef, VariableRef
from api.graphql.scalars import JSON, BigInt, Direction, VariableKind
from api.graphql.trace import session_of, trace_of
from schema import models
from schema.errors import InputError
from store.answers import Label

MAX_WINDOW = 1_000_000
MAX_VALUE = 16 << 20


@strawberry.type(description="A part of a value, in characters. Values that are not text are read by HTTP.")
class ValueWindow:
    """A window of a value."""

    text: str = strawberry.field(description="The characters from `offset` on.")
    offset: int = strawberry.field(description="Where the window begins, in characters.")
    total: int = strawberry.field(description="How many characters the whole value has.")
    is_whole: bool = strawberry.field(description="Whether this is all of it.")


@strawberry.type(description="One immutable value at one moment: a message, a prompt, a version of a memory unit.")
class Variable(Node):
    """Read off ``schema.models.Variable``."""

    is_type_of = is_model(models.Variable)

    id: strawberry.ID = strawberry.field(description=node.ID)
    project_id: str = strawberry.field(description=node.PROJECT)
    trace_id: str = strawberry.field(description=node.TRACE)
    session_id: str | None = strawberry.field(description="The id of the session that it was made in.")
    external_id: str = strawberry.field(description=node.EXTERNAL)
    name: str = strawberry.field(description="The name that its versions share.")
    class_name: str | None = strawberry.field(description="Its class in the recorded program.")
    version: int = strawberry.field(description="Which version of its name it is, from 0.")
    occurrence: int = strawberry.field(
        description="0 for a recorded variable; 1, 2, … where the source shared one node among several reads."
    )
    kind: VariableKind = strawberry.field(description="What it is.")
    category: str | None = strawberry.field(description=node.CATEGORY)
    comment: str | None = strawberry.field(description=node.COMMENT)
    preview: str = strawberry.field(description="The first 500 characters of its value.")
    value_hash: str = strawberry.field(description="The address of its value.")
    size: BigInt = strawberry.field(description="Bytes of its value in UTF-8.")
    media_type: str = strawberry.field(description="What its value is written in.")
    sequence: int = strawberry.field(description=node.SEQUENCE)
    created_at: datetime | None = strawberry.field(description="When it was made.")
    location: str | None = strawberry.field(description=node.LOCATION)
    attributes: JSON = strawberry.field(description=node.ATTRIBUTES)
    operation_id: str | None = strawberry.field(description="The id of the operation that made it.")
    revision_of: str | None = strawberry.field(description="The id of the version before it.")

    @strawberry.field(description="A part of its value, or all of it.", metadata={"cost": 5, "per": ("length", 200)})
    async def value(
        self: models.Variable,
        info: Info,
        offset: Annotated[int, strawberry.argument(description="Where to begin, in characters.")] = 0,
        length: Annotated[int, strawberry.argument(description=f"Characters at most, 1 to {MAX_WINDOW}.")] = 20_000,
    ) -> ValueWindow:
        """A window of the value."""
        if not (offset >= 0 and 1 <= length <= MAX_WINDOW):
            raise InputError("value", "", f"offset must not be negative, and length from 1 to {MAX_WINDOW}")
        if self.size > MAX_VALUE:
            raise InputError("value", "", f"is larger than {MAX_VALUE:,} bytes: read it at /v1/values/{self.id}")
        window = await info.context.load(self.project_id, reads.windows, (self, offset, length))
        assert window is not None
        text, total = window
        return ValueWindow(text=text, offset=offset, total=total, is_whole=len(text) == total)

    @strawberry.field(description="The trace that it belongs to.")
    async def trace(self, info: Info) -> TraceRef | None:
        """The trace."""
        return await trace_of(info, self.project_id, self.trace_id)

    @strawberry.field(description="The session that it was made in.")
    async def session(self, info: Info) -> SessionRef | None:
        """The session."""
        return await session_of(info, self.project_id, self.session_id)

    @strawberry.field(description="The operation that made it; null for an input from outside.")
    async def operation(self, info: Info) -> OperationRef | None:
        """The operation."""
        if self.operation_id is None:
            return None
        return await info.context.load(self.project_id, reads.elements, self.operation_id, Label.OPERATION)

    @strawberry.field(description="What it was derived from: one hop backward.", metadata={"size": "first"})
    async def derived_from(self, info: Info, first: First = 20) -> list[DerivationRef]:
        """Derivations into it."""
        size = page_size(first)
        return await info.context.load(self.project_id, reads.derivations, self.id, Direction.BACKWARD, size) or []

    @strawberry.field(description="What was derived from it: one hop forward.", metadata={"size": "first"})
    async def derivations(self, info: Info, first: First = 20) -> list[DerivationRef]:
        """Derivations out of it."""
        size = page_size(first)
        return await info.context.load(self.project_id, reads.derivations, self.id, Direction.FORWARD, size) or []

    @strawberry.field(description="Versions of its name, oldest first, itself too.", metadata={"size": "first"})
    async def versions(
        self,
        info: Info,
        first: First = 50,
        since: Annotated[int, strawberry.argument(description="From this version on.")] = 0,
    ) -> list[VariableRef]:
        """Its history."""
        found = await info.context.load(self.project_id, reads.versions, self.id) or []
        return [version for version in found if version.version >= since][: page_size(first)]

    @strawberry.field(
        description="All that it causally depends on, or all that depends on it, within bounds.",
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
        """Its closure."""
        asked = bounds(info, direction, max_hops, max_nodes, kinds, as_of)
        return await lineage_of(info, self.project_id, (self.id,), asked)
