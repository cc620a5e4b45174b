"""Jobs: imports, attributions and reports under way."""

from __future__ import annotations

from datetime import datetime

import strawberry

from api.graphql import node
from api.graphql.node import Node, is_model
from api.graphql.scalars import JSON, JobKind, JobState
from schema import control


@strawberry.type(description="Work that outlives the request for it, and a restart of the server.")
class Job(Node):
    """Read off ``schema.control.Job``."""

    is_type_of = is_model(control.Job)

    id: strawberry.ID = strawberry.field(description=node.ID)
    project_id: str = strawberry.field(description=node.PROJECT)
    kind: JobKind = strawberry.field(description="What it does.")
    state: JobState = strawberry.field(description="Where it stands.")
    arguments: JSON = strawberry.field(description="What it was told.")
    created_at: datetime = strawberry.field(description="When it was asked for.")
    created_by: str = strawberry.field(description="Who asked for it.")
    started_at: datetime | None = strawberry.field(description="When it was first begun.")
    ended_at: datetime | None = strawberry.field(description="When it ended.")
    stage: str | None = strawberry.field(description="What it does at the moment.")
    done: int = strawberry.field(description="How much of `total` is done.")
    total: int | None = strawberry.field(description="How much there is; null while it is not known.")
    result: JSON | None = strawberry.field(description="What came of it, once it is done; its form is the kind's.")
    error: str | None = strawberry.field(description="Why it failed.")
    attempts: int = strawberry.field(description="How often it was begun.")
    cancel_requested: bool = strawberry.field(description="Whether somebody asked to stop it.")
