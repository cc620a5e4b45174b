"""The spine of a failure: the causal past of its answer as a picture of a few boxes.

Its structure is read through the store; it is worked out beside the server's loop, for it takes some hundredths of a
second of the processor.
"""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

import strawberry
from msgspec.structs import asdict

from api.graphql import reads
from api.graphql.context import Info
from api.graphql.node import is_model
from api.graphql.pages import After, Connection, First, asked_page, connection
from api.graphql.refs import AttributionRef, OperationRef, VariableRef
from api.graphql.scalars import ErrorType
from api.graphql.why_not import MAX_ELEMENTS
from attribution.spine import model
from attribution.spine.find import check_boxes, spines
from schema import models
from schema.errors import InputError
from store.contract.answers import Label, Page
from store.contract.protocol import GraphStore

strawberry.enum(
    model.State,
    name="SpineState",
    description="How a box stands to a piece of what the answer needed. has: the piece is there. lost: it was lost "
    "here. lacks: it is not there, and was lost before.",
    graphql_name_from="value",
)
strawberry.enum(
    model.Role,
    name="SpineRole",
    description="Why a box is on the spine. evidence: a message that holds the right answer. question and answer: "
    "those of the failure. read: the operation that answered read it. holder: the last that had a piece. loss: where "
    "a piece was lost. path: on the way of a piece.",
    graphql_name_from="value",
)

MaxBoxes = Annotated[
    int,
    strawberry.argument(description=f"How many boxes at most, {model.LEAST_BOXES} to {model.MOST_BOXES}."),
]


@strawberry.type(description="A piece of what the answer needed, and where it was lost.")
class SpinePiece:
    """The fields of ``attribution.spine.model.Piece``."""

    is_type_of = is_model(model.Piece)

    text: str = strawberry.field(description="What it says, quoted from the evidence.")
    error_type: ErrorType | None = strawberry.field(
        description="How it was lost; null if it was not lost, or if that can't be told."
    )
    operation_id: strawberry.ID | None = strawberry.field(
        description="The id of the operation that lost it; null if none is named."
    )
    operation_name: str | None = strawberry.field(description="The operation's name, for people.")
    confidence: float = strawberry.field(description="How sure this is, from 0 to 1.")
    reached: bool = strawberry.field(description="Whether the piece is in the answer.")


@strawberry.type(description="How a box stands to a piece.")
class SpinePieceState:
    """The fields of ``attribution.spine.model.PieceState``."""

    is_type_of = is_model(model.PieceState)

    piece: int = strawberry.field(description="The place of the piece in `pieces`, from 0.")
    state: model.State = strawberry.field(description="Whether the piece is there.")


@strawberry.type(description="How many members of a box are of a kind.")
class SpineKind:
    """The fields of ``attribution.spine.model.KindCount``."""

    is_type_of = is_model(model.KindCount)

    kind: str = strawberry.field(description="The kind: that of a variable, or Operation.")
    count: int = strawberry.field(description="How many.")


@strawberry.type(description="A variable, or a group of variables and operations. Each is a member of one box only.")
class SpineBox:
    """The fields of ``attribution.spine.model.Box``."""

    project_id: strawberry.Private[str]
    variables_of: strawberry.Private[list[str]]
    number: int = strawberry.field(description="Its place in `boxes`, from 0.")
    kind: str = strawberry.field(
        description="The kind of its members, that of the steps if it is a run of equal steps; Operation for an "
        "operation that made nothing that could be shown; Others if the kinds differ."
    )
    label: str = strawberry.field(description="A name for people; of a group, what it holds, such as `Buffer × 11`.")
    text: str = strawberry.field(
        description="The words that show the piece, else how the value begins; empty for a group."
    )
    count: int = strawberry.field(description="How many members it has.")
    kinds: list[SpineKind] = strawberry.field(
        description="The kinds of all its members, the most frequent first.", metadata={"size": 5}
    )
    variable_ids: list[strawberry.ID] = strawberry.field(
        description=f"The ids of its variables in the order of the trace, the first {model.LISTED}; page through all "
        "of them with `variables`."
    )
    operation_ids: list[strawberry.ID] = strawberry.field(
        description=f"The ids of operations that are shown in place of what they did not make, the first "
        f"{model.LISTED}."
    )
    layer: int = strawberry.field(
        description="Its place from left to right, from 0 for messages to the answer. Edges lead to higher layers."
    )
    roles: list[model.Role] = strawberry.field(description="Why it is on the spine; empty for others that feed it.")
    states: list[SpinePieceState] = strawberry.field(
        description="How it stands to each piece that passes it.", metadata={"size": 8}
    )
    is_others: bool = strawberry.field(description="Whether it stands for what only feeds the spine: drawn dashed.")
    is_decisive: bool = strawberry.field(
        description="Whether the operation that the verdict blames made one of its members, or is one."
    )
    is_past: bool = strawberry.field(description="Whether the answer was made from one of its members, or is one.")

    @strawberry.field(description="Its variables, in the order of the trace.")
    async def variables(self, info: Info, first: First = 20, after: After = None) -> Connection[VariableRef]:
        size, cursor = asked_page(info, first, after)
        start = 0 if cursor is None else _place(cursor)
        ids = self.variables_of[start : start + size]
        load = info.context.load
        found = await asyncio.gather(*(load(self.project_id, reads.elements, id_, Label.VARIABLE) for id_ in ids))
        end = start + size
        page = Page([one for one in found if one is not None], str(end) if end < len(self.variables_of) else None)
        return connection(info, page)

    @strawberry.field(
        description=f"The operations that are shown in place of what they did not make, the first {model.LISTED}.",
        metadata={"size": 2},
    )
    async def operations(self, info: Info) -> list[OperationRef]:
        load = info.context.load
        found = await asyncio.gather(
            *(load(self.project_id, reads.elements, id_, Label.OPERATION) for id_ in self.operation_ids)
        )
        return [one for one in found if one is not None]


@strawberry.type(description="Operations of one name that an edge stands for.")
class SpineOperation:
    """The fields of ``attribution.spine.model.EdgeOperation``."""

    is_type_of = is_model(model.EdgeOperation)

    name: str = strawberry.field(description="Their name, for people.")
    kind: str = strawberry.field(description="Their kind.")
    count: int = strawberry.field(description="How many operations.")
    is_decisive: bool = strawberry.field(description="Whether the operation that the verdict blames is one of them.")


@strawberry.type(
    description="What leads from one box to another: a derivation from a member of the one to a member of the other, "
    "or an operation that had the one at hand and brought nothing of it into the other."
)
class SpineEdge:
    """The fields of ``attribution.spine.model.Edge``."""

    is_type_of = is_model(model.Edge)

    source: int = strawberry.field(description="The place in `boxes` of the box that it leads from.")
    target: int = strawberry.field(description="The place in `boxes` of the box that it leads to.")
    derivations: int = strawberry.field(description="How many derivations it stands for; 0 if nothing was derived.")
    operations: list[SpineOperation] = strawberry.field(
        description="The operations that it stands for, by name, the most frequent first.", metadata={"size": 3}
    )
    lost: list[int] = strawberry.field(
        description="The places in `pieces` of the pieces that were lost on it: it is drawn broken."
    )


@strawberry.type(
    description="The spine of a failure: all that its answer causally depends on, with the ways of the evidence that "
    "did not get there, as a picture of a few boxes without cycles."
)
class Spine:
    """The fields of ``attribution.spine.model.Spine``."""

    project_id: strawberry.Private[str]
    verdict_id: strawberry.ID | None = strawberry.field(
        description="The id of the verdict that says where pieces were lost: a person's before a model's before that "
        "of the rules; null if there is none."
    )
    variable_count: int = strawberry.field(description="How many variables are in all boxes.")
    pieces: list[SpinePiece] = strawberry.field(
        description="What the answer needed; empty without a verdict that follows any of it.", metadata={"size": 8}
    )
    boxes: list[SpineBox] = strawberry.field(
        description="The boxes by layer, and within a layer in the order of the trace.",
        metadata={"size": model.BOXES},
    )
    edges: list[SpineEdge] = strawberry.field(
        description="What leads from box to box.", metadata={"size": 2 * model.BOXES}
    )

    @strawberry.field(description="The verdict that says where pieces were lost.")
    async def verdict(self, info: Info) -> AttributionRef | None:
        if self.verdict_id is None:
            return None
        return await info.context.load(self.project_id, reads.elements, self.verdict_id, Label.ATTRIBUTION)


async def spine_of(info: Info, failure: models.Failure, most: int) -> Spine:
    """The spine of a failure.

    Raises:
        InputError: ``most`` is out of its range, or the trace is too large to be worked through while a caller waits.
    """
    found = await info.context.load(failure.project_id, _spines, failure.id, check_boxes(most))
    if found is None:
        raise InputError(
            "spine", "", f"its trace has more than {MAX_ELEMENTS:,} elements: use the command memtrace spine"
        )
    return Spine(
        project_id=failure.project_id,
        verdict_id=_id(found.attribution_id),
        variable_count=found.variables,
        pieces=_of(found.pieces),
        boxes=[_box(failure.project_id, number, box) for number, box in enumerate(found.boxes)],
        edges=_of(found.edges),
    )


async def _spines(store: GraphStore, failure_ids: Sequence[str], most: int) -> dict[str, model.Spine]:
    """The spines of several failures, without those of traces that are too large."""
    failures: list[Any] = await store.get(Label.FAILURE, failure_ids)
    counts = await store.counts(list({one.trace_id for one in failures}))
    small = [one for one in failures if sum(counts[one.trace_id].values()) <= MAX_ELEMENTS]
    return await spines(store, small, most)


def _box(project_id: str, number: int, box: model.Box) -> SpineBox:
    known = {name: value for name, value in asdict(box).items() if name not in {"variables", "operations"}}
    return SpineBox(
        project_id=project_id,
        variables_of=box.variables,
        number=number,
        variable_ids=[strawberry.ID(id_) for id_ in box.variables[: model.LISTED]],
        operation_ids=[strawberry.ID(id_) for id_ in box.operations[: model.LISTED]],
        is_others=box.is_others,
        **known,
    )


def _place(cursor: str) -> int:
    if cursor.isascii() and cursor.isdecimal():
        return int(cursor)
    raise InputError("after", "", "it is not a cursor of this list")


def _of(things: Any) -> Any:
    """Things whose fields the schema reads off them."""
    return things


def _id(id_: str | None) -> strawberry.ID | None:
    return None if id_ is None else strawberry.ID(id_)
