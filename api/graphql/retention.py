"""How long a project keeps its traces."""

from datetime import datetime
from typing import Annotated

import strawberry

from api.graphql.context import Info
from api.graphql.inputs import ProjectName
from api.graphql.problems import Problems, outcome
from schema import control
from schema.control import Role
from store.retention import policy


@strawberry.type(description="How long a project keeps its traces. A trace that is beyond a bound is deleted.")
class RetentionPolicy:
    """The fields of ``schema.control.RetentionPolicy``."""

    days: int | None = strawberry.field(
        description="A trace is deleted when nothing was written to it for this many days; null if days don't matter."
    )
    traces: int | None = strawberry.field(
        description="This many traces are kept, the ones written to last; null if the number doesn't matter."
    )
    changed_at: datetime = strawberry.field(description="When it was set.")
    changed_by: str = strawberry.field(description="Who set it.")


@strawberry.type(description="The retention policy was set.")
class RetentionChanged:
    retention: RetentionPolicy | None = strawberry.field(description="The new policy; null keeps traces for good.")


SetRetentionResult = Annotated[
    RetentionChanged | Problems,
    strawberry.union("SetRetentionResult", description="The new policy, or why nothing was changed."),
]


@strawberry.type
class RetentionMutations:
    """Mutations about retention."""

    @strawberry.mutation(
        description="Set how long the project keeps its traces: days, a number of traces, or both; for good if "
        "neither is given. The new policy replaces the old one. Traces are deleted an hour later at the"
        " earliest. Needs the role admin.",
        metadata={"cost": 20},
    )
    @outcome
    async def set_retention(
        self,
        info: Info,
        project: ProjectName,
        days: Annotated[
            int | None,
            strawberry.argument(description="Delete traces to which nothing was written for this many days."),
        ] = None,
        traces: Annotated[
            int | None, strawberry.argument(description="Keep this many traces, the ones written to last.")
        ] = None,
    ) -> SetRetentionResult:
        door = info.context.door(project, Role.ADMIN)
        if days is None and traces is None:
            await door.records.clear_retention(door.entry("clearRetention"))
            return RetentionChanged(retention=None)
        wanted = policy(door.project_id, days, traces, door.actor)
        await door.records.set_retention(wanted, door.entry("setRetention"))
        return RetentionChanged(retention=retention_of(wanted))


def retention_of(found: control.RetentionPolicy | None) -> RetentionPolicy | None:
    """The GraphQL type of a policy."""
    if found is None:
        return None
    return RetentionPolicy(
        days=found.days, traces=found.traces, changed_at=found.changed_at, changed_by=found.changed_by
    )
