"""A project: where every query begins."""

from typing import Annotated

import strawberry

from api.graphql.across_traces import across_traces
from api.graphql.context import Info
from api.graphql.difference import Diff, diff_of
from api.graphql.failure_filter import FailureFilter, FailureOrder, wanted_failures, wanted_order
from api.graphql.pages import After, Connection, First, asked_page, connection, page_size
from api.graphql.project_numbers import InTrace, ProjectNumbers
from api.graphql.refs import (
    AnnotationQueueRef,
    ApiKeyRef,
    AttributionRef,
    AuditEntryRef,
    FailureRef,
    JobRef,
    OperationRef,
    PathRef,
    SearchHitRef,
    SessionRef,
    TraceRef,
    VariableRef,
)
from api.graphql.resolving import element_meant, id_meant, id_of, trace_meant
from api.graphql.retention import RetentionPolicy, retention_of
from api.graphql.scalars import JobKind, JobState, Role
from api.graphql.times import Recorded, span_of
from api.graphql.trace import Ended, OperationKinds, VariableKinds
from attribution.review.annotation.queues import find_queue
from schema import control, models
from schema.errors import InputError, NotFoundError
from schema.kinds import VariableKind
from store.contract.answers import Label, Page

MAX_PATHS = 50
MAX_SEARCH = 4000

Reference = Annotated[
    str, strawberry.argument(description="An id, a unique prefix of 8 or more characters of one, or an external id.")
]


@strawberry.type(description="A project owns traces and decides who has access to them.")
class Project(ProjectNumbers):
    """Holds the ``ProjectDoor`` through which all fields read."""

    @strawberry.field(description="Its name.")
    def name(self) -> str:
        return self.door.project_id

    @strawberry.field(description="Your role in it.")
    def role(self) -> Role:
        return self.door.role

    @strawberry.field(description="Its traces, ordered by time.")
    async def traces(self, info: Info, first: First = 20, after: After = None) -> Connection[TraceRef]:
        return connection(info, await self.door.store.traces(*asked_page(info, first, after)))

    @strawberry.field(description="A trace; null where there is none.")
    async def trace(self, info: Info, reference: Reference) -> TraceRef | None:
        return await element_meant(info, self.door, models.Trace, reference, None)

    @strawberry.field(description="A session; null where there is none.")
    async def session(self, info: Info, reference: Reference, trace: InTrace = None) -> SessionRef | None:
        return await element_meant(info, self.door, models.Session, reference, trace)

    @strawberry.field(description="An operation; null where there is none.")
    async def operation(self, info: Info, reference: Reference, trace: InTrace = None) -> OperationRef | None:
        return await element_meant(info, self.door, models.Operation, reference, trace)

    @strawberry.field(description="A variable; null where there is none. An external id means occurrence 0.")
    async def variable(self, info: Info, reference: Reference, trace: InTrace = None) -> VariableRef | None:
        return await element_meant(info, self.door, models.Variable, reference, trace)

    @strawberry.field(description="A failure; null where there is none.")
    async def failure(self, info: Info, reference: Reference) -> FailureRef | None:
        return await element_meant(info, self.door, models.Failure, reference, None)

    @strawberry.field(description="A verdict; null where there is none.")
    async def attribution(self, info: Info, reference: Reference) -> AttributionRef | None:
        return await element_meant(info, self.door, models.Attribution, reference, None)

    @strawberry.field(
        description="Its operations, ordered by trace and by place in the trace. A page may hold fewer than you "
        "asked for and yet have a next page.",
        metadata={"cost": 100},
    )
    async def operations(
        self,
        info: Info,
        first: First = 20,
        after: After = None,
        kinds: OperationKinds = (),
        status: Ended = None,
        recorded: Recorded = None,
    ) -> Connection[OperationRef]:
        statuses, when = [status] if status else [], span_of(recorded)
        size, cursor = asked_page(info, first, after)
        found = await across_traces(self.door.store, models.Operation, size, cursor, kinds, statuses, when)
        return connection(info, found)

    @strawberry.field(
        description="The answers of one trace or of all traces, right or wrong (see `right`), ordered by trace and "
        "by place in the trace. A page may hold fewer than you asked for and yet have a next page.",
        metadata={"cost": 100},
    )
    async def answers(
        self, info: Info, first: First = 20, after: After = None, trace: InTrace = None, recorded: Recorded = None
    ) -> Connection[VariableRef]:
        store, kinds, (size, cursor) = self.door.store, [VariableKind.ANSWER.value], asked_page(info, first, after)
        when = span_of(recorded)
        if trace is None:
            return connection(info, await across_traces(store, models.Variable, size, cursor, kinds, when=when))
        only = await id_meant(store, Label.TRACE, trace)
        page = await store.page(Label.VARIABLE, only, size, cursor, kinds, when=when)
        return connection(info, Page([one for one in page.items if isinstance(one, models.Variable)], page.next))

    @strawberry.field(description="The failures of the project, or of one trace, that match a filter.")
    async def failures(
        self,
        info: Info,
        first: First = 20,
        after: After = None,
        trace: InTrace = None,
        filter: Annotated[FailureFilter | None, strawberry.argument(description="Which failures you want.")] = None,
        order_by: Annotated[
            FailureOrder | None,
            strawberry.argument(
                description="In which order; null sorts by trace. A cursor works only in the order that it came from."
            ),
        ] = None,
    ) -> Connection[FailureRef]:
        store = self.door.store
        only, wanted, order = await trace_meant(store, trace), wanted_failures(filter), wanted_order(order_by)
        return connection(info, await store.failures(only, *asked_page(info, first, after), wanted, order))

    @strawberry.field(
        description="Search for variables by text: name, comment and preview together must hold all words. The best "
        "match comes first.",
        metadata={"cost": 50, "size": "first"},
    )
    async def search(
        self,
        text: Annotated[
            str, strawberry.argument(description="The words to search for; a variable must hold all of them.")
        ],
        trace: InTrace = None,
        first: First = 20,
        kinds: VariableKinds = (),
        recorded: Recorded = None,
    ) -> list[SearchHitRef]:
        if len(text) > MAX_SEARCH:
            raise InputError("text", "", f"is longer than {MAX_SEARCH:,} characters")
        only = await trace_meant(self.door.store, trace)
        return await self.door.store.search(text, only, page_size(first), kinds, span_of(recorded))

    @strawberry.field(
        description="Chains of derivations by which one of two variables depends on the other, in either direction, "
        "the shortest first.",
        metadata={"cost": 100, "size": "first", "most": MAX_PATHS},
    )
    async def paths(
        self,
        source: Annotated[
            strawberry.ID, strawberry.argument(description="One variable: an id, a prefix, or an external id.")
        ],
        target: Annotated[strawberry.ID, strawberry.argument(description="The other variable.")],
        first: Annotated[int, strawberry.argument(description=f"How many at most, 1 to {MAX_PATHS}.")] = 1,
    ) -> list[PathRef]:
        store, most = self.door.store, page_size(first, MAX_PATHS)
        try:
            one, other = [await id_of(store, Label.VARIABLE, reference) for reference in (source, target)]
            return await store.paths(one, other, most)
        except NotFoundError:
            return []

    @strawberry.field(
        description="The differences between the values of two variables, such as two versions of a memory unit; "
        "null if a variable is unknown.",
        metadata={"cost": 1000},
    )
    async def diff(
        self,
        info: Info,
        before: Annotated[
            strawberry.ID, strawberry.argument(description="The older variable: an id, a prefix, or an external id.")
        ],
        after: Annotated[strawberry.ID, strawberry.argument(description="The newer variable.")],
    ) -> Diff | None:
        old, new = [await id_meant(self.door.store, Label.VARIABLE, reference) for reference in (before, after)]
        return await diff_of(info, self.door.project_id, old, new)

    @strawberry.field(description="Its annotation queues, the newest first. Closed queues are included.")
    async def annotation_queues(
        self, info: Info, first: First = 20, after: After = None
    ) -> Connection[AnnotationQueueRef]:
        return connection(info, await self.door.records.queue_page(*asked_page(info, first, after)))

    @strawberry.field(description="An annotation queue; null where there is none.")
    async def annotation_queue(
        self, reference: Annotated[str, strawberry.argument(description="Its name or its id.")]
    ) -> AnnotationQueueRef | None:
        try:
            return await find_queue(self.door.records, self.door.project_id, reference)
        except NotFoundError:
            return None

    @strawberry.field(description="A job; null where there is none.")
    async def job(
        self,
        id: Annotated[strawberry.ID, strawberry.argument(description="Its id.")],
    ) -> JobRef | None:
        found = await self.door.records.jobs([id])
        return found[0] if found else None

    @strawberry.field(description="Its jobs, the newest first.")
    async def jobs(
        self,
        info: Info,
        first: First = 20,
        after: After = None,
        kind: Annotated[JobKind | None, strawberry.argument(description="Only of this kind.")] = None,
        state: Annotated[JobState | None, strawberry.argument(description="Only in this state.")] = None,
    ) -> Connection[JobRef]:
        return connection(info, await self.door.records.job_page(*asked_page(info, first, after), kind, state))

    @strawberry.field(description="Its reports, the newest first. Each is a finished job whose result is the report.")
    async def reports(self, info: Info, first: First = 20, after: After = None) -> Connection[JobRef]:
        page = await self.door.records.job_page(
            *asked_page(info, first, after), control.JobKind.REPORT, control.JobState.DONE
        )
        return connection(info, page)

    @strawberry.field(description="How long the project keeps traces; null keeps them for good.")
    async def retention(self) -> RetentionPolicy | None:
        return retention_of(await self.door.records.retention())

    @strawberry.field(description="Its API keys, the newest first; for admins.")
    async def keys(self, info: Info, first: First = 20, after: After = None) -> Connection[ApiKeyRef]:
        self.door.require(control.Role.ADMIN)
        page = await self.door.records.keys(*asked_page(info, first, after))
        await self.door.told("readKeys")
        return connection(info, page)

    @strawberry.field(description="The audit log, which says who did what, the newest entry first; for admins.")
    async def audit(self, info: Info, first: First = 20, after: After = None) -> Connection[AuditEntryRef]:
        self.door.require(control.Role.ADMIN)
        page = await self.door.records.audit(*asked_page(info, first, after))
        await self.door.told("readAudit")
        return connection(info, page)
