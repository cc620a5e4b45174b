"""Changes of people's verdicts."""

from collections.abc import Sequence
from datetime import datetime

import strawberry

from api.graphql import node
from api.graphql.context import Info
from api.graphql.node import is_model
from api.graphql.refs import AttributionRef, VerdictChangeRef
from attribution.review.history import history
from schema import annotation, models
from schema.errors import InputError
from store.contract.answers import Page
from store.contract.protocol import GraphStore
from store.contract.verdict_changes import read_said


@strawberry.type(
    description="A change of a person's verdict on a failure. The newest change that is not undone is the person's "
    "present verdict."
)
class VerdictChange:
    """The fields of ``schema.annotation.VerdictChange``."""

    is_type_of = is_model(annotation.VerdictChange)

    id: strawberry.ID = strawberry.field(description=node.ID)
    attribution_id: strawberry.ID = strawberry.field(
        description="The id of the verdict. It stays the same while what the person says changes."
    )
    number: int = strawberry.field(description="The number of the change, from 1 for each verdict.")
    changed_at: datetime = strawberry.field(description="When it was changed.")
    changed_by: str = strawberry.field(description="Who changed it.")
    undone_at: datetime | None = strawberry.field(description="When the change was undone; null if it was not.")
    undone_by: str | None = strawberry.field(description="Who undid it.")

    @strawberry.field(description="The verdict as it was from then on; null if it was withdrawn.")
    def verdict(self: annotation.VerdictChange) -> AttributionRef | None:
        return None if self.said is None else read_said(self.said)


async def changes(store: GraphStore, failure_ids: Sequence[str]) -> dict[str, list[annotation.VerdictChange]]:
    """What loaders read: the changes on several failures."""
    return await history(store, failure_ids)


async def changes_page(info: Info, failure: models.Failure, first: int, after: str | None) -> Page[VerdictChangeRef]:
    """A page of the changes on a failure, the oldest first.

    Raises:
        InputError: the cursor is not from this list.
    """
    found = await info.context.load(failure.project_id, changes, failure.id) or []
    start = 0
    if after is not None:
        start = next((place for place, one in enumerate(found, 1) if one.id == after), 0)
        if not start:
            raise InputError("after", "", "is not a cursor of this list")
    items = found[start : start + first]
    return Page(items, items[-1].id if len(found) > start + first else None)
