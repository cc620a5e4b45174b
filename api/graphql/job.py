"""Jobs: imports, attributions and reports under way."""

from datetime import datetime

import strawberry

from api.graphql import node
from api.graphql.node import Node, is_model
from api.graphql.scalars import JSON, JobKind, JobState
from schema import control


@strawberry.type(
    description="Work in the background. It goes on after the request that started it, and survives a restart of "
    "the server."
)
class Job(Node):
    """The fields of ``schema.control.Job``."""

    is_type_of = is_model(control.Job)

    id: strawberry.ID = strawberry.field(description=node.ID)
    project_id: str = strawberry.field(description=node.PROJECT)
    kind: JobKind = strawberry.field(description="The kind of work.")
    state: JobState = strawberry.field(description="Its state: waiting, running or ended.")
    arguments: JSON = strawberry.field(description="The arguments of the job.")
    created_at: datetime = strawberry.field(description="When it was asked for.")
    created_by: str = strawberry.field(description="Who asked for it.")
    started_at: datetime | None = strawberry.field(description="When it was first started; null while it waits.")
    ended_at: datetime | None = strawberry.field(description="When it ended.")
    stage: str | None = strawberry.field(description="The present stage of the work.")
    done: int = strawberry.field(description="How many of `total` items are done.")
    total: int | None = strawberry.field(description="How many items there are to do; null while that is not known.")
    result: JSON | None = strawberry.field(
        description="The result, after the job is done. Its members depend on the kind of job."
    )
    error: str | None = strawberry.field(description="Why it failed; null if it did not.")
    attempts: int = strawberry.field(description="How many times it was started.")
    cancel_requested: bool = strawberry.field(description="Whether somebody has asked to cancel it.")
