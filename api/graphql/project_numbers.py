"""Counts, comparisons and rankings over a whole project."""

from datetime import datetime, timedelta
from typing import Annotated

import strawberry

from api.auth.access import ProjectDoor
from api.graphql.blaming import Blamed, blamed_of
from api.graphql.comparison import Agreement, agreement_of
from api.graphql.context import Info
from api.graphql.failure_filter import FailureFilter, VerdictGroup, groups_of, wanted_failures
from api.graphql.levers import Lever, levers_of
from api.graphql.pages import First, page_size
from api.graphql.resolving import trace_meant
from api.graphql.side_by_side import Comparison, methods_compared, traces_compared
from api.graphql.statistics import Period, Statistics, periods_of, statistics_of
from attribution.blame.model import By
from schema.errors import InputError

InTrace = Annotated[
    str | None,
    strawberry.argument(description="Only in this trace: an id, a unique prefix of one, or an external id."),
]


@strawberry.type
class ProjectNumbers:
    """The fields of a project that count or rank; see ``api.graphql.project.Project``."""

    door: strawberry.Private[ProjectDoor]

    @strawberry.field(
        description="How many failures have a verdict of each method, error type and operation, the largest number "
        "first. A failure with several verdicts may be counted in several groups; replaced verdicts don't count.",
        metadata={"cost": 100, "size": 50},
    )
    async def verdict_groups(self, trace: InTrace = None) -> list[VerdictGroup]:
        return groups_of(await self.door.store.verdict_groups(await trace_meant(self.door.store, trace)))

    @strawberry.field(description="How many failures `failures` lists with the same filter.", metadata={"cost": 100})
    async def failure_count(
        self,
        trace: InTrace = None,
        filter: Annotated[FailureFilter | None, strawberry.argument(description="Which failures you want.")] = None,
    ) -> int:
        store = self.door.store
        return await store.count_failures(await trace_meant(store, trace), wanted_failures(filter))

    @strawberry.field(
        description="The number of failures whose verdicts are withheld from you, because you have still to judge "
        "them in open annotation queues. Counts, comparisons and rankings of verdicts leave these "
        "failures out.",
        metadata={"cost": 20},
    )
    async def withheld_failures(self) -> int:
        return len(await self.door.records.withheld(self.door.author))

    @strawberry.field(description="How many elements of each label and kind it has.", metadata={"cost": 20})
    async def statistics(self, trace: InTrace = None) -> Statistics:
        return statistics_of(await self.door.store.stats(await trace_meant(self.door.store, trace)))

    @strawberry.field(
        description="What was added over time, in periods of equal length; empty periods are included.",
        metadata={"cost": 50, "size": 100},
    )
    async def timeline(
        self,
        since: Annotated[datetime, strawberry.argument(description="The beginning of the first period.")],
        until: Annotated[datetime, strawberry.argument(description="The end; this moment is not included.")],
        seconds: Annotated[int, strawberry.argument(description="The length of a period, in seconds.")] = 86_400,
    ) -> list[Period]:
        if seconds < 1 or until <= since or (until - since) / timedelta(seconds=seconds) > 1000:
            raise InputError("timeline", "", "until must be after since, by at most 1,000 stretches of 1 s or more")
        return periods_of(await self.door.store.timeline(since, until, seconds))

    @strawberry.field(
        description="How far two sources of verdicts, methods or people, agree. Null if a source gave no verdict.",
        metadata={"cost": 200},
    )
    async def agreement(
        self,
        first: Annotated[str, strawberry.argument(description="A method, or the name of a person.")],
        second: Annotated[str, strawberry.argument(description="Another method or person.")],
        trace: InTrace = None,
    ) -> Agreement | None:
        only = await trace_meant(self.door.store, trace)
        return await agreement_of(self.door.store, first, second, only)

    @strawberry.field(
        description="Two traces in which the same questions were asked, side by side; null if a trace is unknown.",
        metadata={"cost": 2000},
    )
    async def compare_traces(
        self,
        before: Annotated[str, strawberry.argument(description="The first trace: an id, a prefix, or an external id.")],
        after: Annotated[str, strawberry.argument(description="The second trace.")],
    ) -> Comparison | None:
        return await traces_compared(self.door.store, before, after)

    @strawberry.field(
        description="The verdicts of two sources (methods or people) on the same failures, side by side and beside "
        "the verdicts of people; null if a source gave no verdict.",
        metadata={"cost": 2000},
    )
    async def compare_methods(
        self,
        before: Annotated[str, strawberry.argument(description="A method, or the name of a person.")],
        after: Annotated[str, strawberry.argument(description="Another method or person.")],
        trace: InTrace = None,
    ) -> Comparison | None:
        only = await trace_meant(self.door.store, trace)
        return await methods_compared(self.door.store, before, after, only)

    @strawberry.field(
        description="Operations, prompts, memory units or sessions that did harm, the worst first. The ranking "
        "weighs failures that are blamed on the element against right answers that depend on the "
        "element.",
        metadata={"cost": 1000, "size": "first"},
    )
    async def blame(
        self,
        info: Info,
        by: Annotated[By, strawberry.argument(description="What to rank.")] = By.OPERATION,
        trace: InTrace = None,
        name: Annotated[
            str | None,
            strawberry.argument(description="Only elements of this name, such as all calls of an operation."),
        ] = None,
        first: First = 20,
    ) -> list[Blamed]:
        store = self.door.store
        return await blamed_of(info, store, by, await trace_meant(store, trace), name, page_size(first))

    @strawberry.field(
        description="What to change first: the change that affects most failures comes first. Refused (`TOO_LARGE`)"
        " for more than 10,000 failures.",
        metadata={"cost": 500, "size": "first"},
    )
    async def levers(
        self,
        source: Annotated[
            str | None,
            strawberry.argument(
                description="A method or the name of a person, whose newest verdict on each failure counts; null for "
                "the newest verdict that is not a person's."
            ),
        ] = None,
        trace: InTrace = None,
        first: First = 20,
    ) -> list[Lever]:
        store = self.door.store
        return await levers_of(store, source, await trace_meant(store, trace), page_size(first))
