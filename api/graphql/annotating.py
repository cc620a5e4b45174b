"""What people change when they annotate failures as a team."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import strawberry

from api.graphql.context import Info
from api.graphql.problems import Problems, outcome
from api.graphql.refs import AttributionRef
from api.graphql.resolving import id_of
from api.graphql.scalars import Role
from attribution.history import undo_verdict
from store.answers import Label

ProjectName = Annotated[str, strawberry.argument(description="The project.")]


@strawberry.type(description="The last change of a verdict was undone.")
class VerdictUndone:
    """What undoVerdict does."""

    id: strawberry.ID = strawberry.field(description="The id of the verdict.")
    attribution: AttributionRef | None = strawberry.field(
        description="The verdict as it was before; null if there was none before."
    )


UndoVerdictResult = Annotated[
    VerdictUndone | Problems,
    strawberry.union("UndoVerdictResult", description="What stands now, or why nothing was undone."),
]


@strawberry.type
class AnnotationMutations:
    """The roots of mutations that are about annotating."""

    @strawberry.mutation(
        description="Undo the last change of your verdict on a failure: what you said before stands again, or nothing "
        "if that was the first. A verdict that was withdrawn comes back. Needs the role writer.",
        metadata={"cost": 20},
    )
    @outcome
    async def undo_verdict(
        self,
        info: Info,
        project: ProjectName,
        failure: Annotated[
            strawberry.ID, strawberry.argument(description="The failure: an id, or a unique prefix of one.")
        ],
    ) -> UndoVerdictResult:
        """Undo a change."""
        door = info.context.door(project, Role.WRITER)
        found = await id_of(door.store, Label.FAILURE, failure)
        undone = await undo_verdict(door.store, found, door.author, partial(door.entry, "undoVerdict"))
        return VerdictUndone(id=strawberry.ID(undone.attribution_id), attribution=undone.verdict)
