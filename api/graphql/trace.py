"""Traces and sessions."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import strawberry

from api.graphql import node, reads
from api.graphql.context import Info
from api.graphql.cost import LONG
from api.graphql.live import live
from api.graphql.node import Node, is_model
from api.graphql.pages import After, Connection, First, asked_page, connection
from api.graphql.refs import FailureRef, OperationRef, SessionRef, TraceRef, VariableRef
from api.graphql.remembering import MemoryMoment, Moment, memory_of
from api.graphql.scalars import JSON, OperationKind, Status, VariableKind
from api.graphql.times import Recorded, TimeSpan, span_of
from schema import models
from schema.errors import InputError
from store.contract import answers
from store.contract.answers import Label, Page

MAX_STRETCHES = 200

Ended = Annotated[Status | None, strawberry.argument(description="Only operations with this status; all if null.")]

if TYPE_CHECKING:
    OperationKinds = Sequence[OperationKind]
    VariableKinds = Sequence[VariableKind]
else:
    _KINDS = strawberry.argument(description="Only these kinds; all if empty.")
    OperationKinds = Annotated[list[OperationKind], _KINDS]
    VariableKinds = Annotated[list[VariableKind], _KINDS]


@strawberry.type(description="How many elements a trace has.")
class Counts:
    sessions: int = strawberry.field(description="Sessions.")
    operations: int = strawberry.field(description="Operations.")
    variables: int = strawberry.field(description="Variables.")
    derivations: int = strawberry.field(description="Derivations.")
    failures: int = strawberry.field(description="Failures.")
    attributions: int = strawberry.field(description="Verdicts.")


@strawberry.type(description="Operations of one kind and one status, in a stretch of a trace.")
class Activity:
    """The fields of ``store.contract.answers.Activity``."""

    start: int = strawberry.field(description="The place (`sequence`) at which the stretch begins.")
    length: int = strawberry.field(description="The number of places in the stretch.")
    kind: OperationKind = strawberry.field(description="The kind of the operations.")
    status: Status = strawberry.field(description="The status of the operations.")
    count: int = strawberry.field(description="The number of operations.")
    seconds: float = strawberry.field(description="The sum of their recorded durations in seconds.")
    last_at: datetime | None = strawberry.field(
        description="The latest recorded start or end of these operations; null if no time is recorded."
    )


def activity_type(one: answers.Activity, width: int) -> Activity:
    """The GraphQL type of an activity."""
    return Activity(
        start=one.number * width,
        length=width,
        kind=OperationKind(one.kind),
        status=Status(one.status),
        count=one.count,
        seconds=one.seconds,
        last_at=one.last,
    )


@strawberry.type(description="One execution graph: the life of one memory store for one user or run.")
class Trace(Node):
    """The fields of ``schema.models.Trace``."""

    is_type_of = is_model(models.Trace)

    id: strawberry.ID = strawberry.field(description=node.ID)
    project_id: str = strawberry.field(description=node.PROJECT)
    external_id: str = strawberry.field(description=node.EXTERNAL)
    name: str | None = strawberry.field(description="Its name in the source.")
    source: str = strawberry.field(description="The format of the recording.")
    created_at: datetime | None = strawberry.field(description="When it was recorded.")
    attributes: JSON = strawberry.field(description=node.ATTRIBUTES)

    @strawberry.field(description="How many elements it has.")
    async def counts(self, info: Info) -> Counts:
        return counts_of(await info.context.load(self.project_id, reads.counts, self.id))

    @strawberry.field(
        description="Whether the trace is being recorded: an operation runs that began within the last hour, or "
        "the last operation was less than 30 seconds ago.",
        metadata={"cost": 3},
    )
    async def is_live(self, info: Info) -> bool:
        return bool(await info.context.load(self.project_id, live, self.id))

    @strawberry.field(description="Its sessions, in order.")
    async def sessions(self, info: Info, first: First = 20, after: After = None) -> Connection[SessionRef]:
        return connection(info, await _page(self, info, Label.SESSION, first, after, ()))

    @strawberry.field(description="Its operations, in order.")
    async def operations(
        self,
        info: Info,
        first: First = 20,
        after: After = None,
        kinds: OperationKinds = (),
        status: Ended = None,
        since: Annotated[
            int, strawberry.argument(description="The place (`sequence`) at which the first page begins.")
        ] = 0,
        recorded: Recorded = None,
    ) -> Connection[OperationRef]:
        if since < 0:
            raise InputError("since", "", f"{since} is before the first place, 0")
        statuses = [status] if status else ()
        return connection(
            info, await _page(self, info, Label.OPERATION, first, after, kinds, statuses, since, recorded)
        )

    @strawberry.field(
        description="Counts of the trace's operations in stretches of equal length, from the first to the last "
        "operation.",
        metadata={"cost": 50, "size": 20},
    )
    async def activity(
        self: models.Trace,
        info: Info,
        stretches: Annotated[
            int, strawberry.argument(description=f"How many stretches at most, 1 to {MAX_STRETCHES}.")
        ] = 60,
    ) -> list[Activity]:
        if not 1 <= stretches <= MAX_STRETCHES:
            raise InputError("stretches", "", f"{stretches} is not from 1 to {MAX_STRETCHES}")
        counts = counts_of(await info.context.load(self.project_id, reads.counts, self.id))
        width = max(1, -(-counts.operations // stretches))
        store = info.context.door(self.project_id).store
        return [activity_type(one, width) for one in await store.activity(self.id, width)]

    @strawberry.field(description="The trace's memory after an operation; see `asOf`.", metadata={"cost": 200})
    async def memory(self: models.Trace, info: Info, as_of: Moment = None) -> MemoryMoment:
        return await memory_of(info, self.project_id, self.id, as_of)

    @strawberry.field(description="Its variables, in order.")
    async def variables(
        self,
        info: Info,
        first: First = 20,
        after: After = None,
        kinds: VariableKinds = (),
        recorded: Recorded = None,
    ) -> Connection[VariableRef]:
        return connection(info, await _page(self, info, Label.VARIABLE, first, after, kinds, recorded=recorded))

    @strawberry.field(description="Its failures: questions that were answered wrong.")
    async def failures(self, info: Info, first: First = 20, after: After = None) -> Connection[FailureRef]:
        return connection(info, await _page(self, info, Label.FAILURE, first, after, ()))


@strawberry.type(description="A named stage of a trace: a conversation, a search, an evaluation.")
class Session(Node):
    """The fields of ``schema.models.Session``."""

    is_type_of = is_model(models.Session)

    id: strawberry.ID = strawberry.field(description=node.ID)
    project_id: str = strawberry.field(description=node.PROJECT)
    trace_id: str = strawberry.field(description=node.TRACE)
    external_id: str = strawberry.field(description=node.EXTERNAL)
    name: str | None = strawberry.field(description="Its name in the source.")
    category: str | None = strawberry.field(description=node.CATEGORY)
    comment: str | None = strawberry.field(description=node.COMMENT, metadata=LONG)
    sequence: int = strawberry.field(description=node.SEQUENCE)
    created_at: datetime | None = strawberry.field(description="When it began.")
    attributes: JSON = strawberry.field(description=node.ATTRIBUTES)

    @strawberry.field(description="The trace of the session.")
    async def trace(self, info: Info) -> TraceRef | None:
        return await trace_of(info, self.project_id, self.trace_id)


async def trace_of(info: Info, project_id: str, trace_id: str) -> models.Trace | None:
    """The trace with an id."""
    return await info.context.load(project_id, reads.elements, trace_id, Label.TRACE)


async def session_of(info: Info, project_id: str, session_id: str | None) -> models.Session | None:
    """The session with an id."""
    if session_id is None:
        return None
    return await info.context.load(project_id, reads.elements, session_id, Label.SESSION)


def counts_of(counts: dict[str, int] | None) -> Counts:
    """The GraphQL type of counts."""
    found = counts or {}
    return Counts(
        sessions=found.get(Label.SESSION, 0),
        operations=found.get(Label.OPERATION, 0),
        variables=found.get(Label.VARIABLE, 0),
        derivations=found.get(Label.DERIVATION, 0),
        failures=found.get(Label.FAILURE, 0),
        attributions=found.get(Label.ATTRIBUTION, 0),
    )


async def _page(
    trace: Trace,
    info: Info,
    label: Label,
    first: int,
    after: str | None,
    kinds: Iterable[str],
    statuses: Iterable[str] = (),
    since: int = 0,
    recorded: TimeSpan | None = None,
) -> Page[Any] | None:
    size, cursor = asked_page(info, first, after)
    chosen = frozenset(kinds), frozenset(statuses), since, span_of(recorded)
    return await info.context.load(trace.project_id, reads.pages, trace.id, label, size, cursor, *chosen)
