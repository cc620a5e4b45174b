"""The spine of a failure: the causal past of its answer as a picture of a few boxes.

The structure is read through the store. The picture is computed beside the server's loop, because that takes some
hundredths of a second.
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
    description="Whether a piece of what the answer needed is in a box. has: the piece is there. lost: the piece "
    "was lost here. lacks: the piece is not there; it was lost before.",
    graphql_name_from="value",
)
strawberry.enum(
    model.Role,
    name="SpineRole",
    description="Why a box is on the spine. evidence: a message that holds the right answer. question and answer: "
    "the failure's question and answer. read: a variable that the answering operation read. holder: the"
    " last variable that had a piece. loss: where a piece was lost. path: a step of a piece's path.",
    graphql_name_from="value",
)

MaxBoxes = Annotated[
    int,
    strawberry.argument(description=f"How many boxes at most, {model.LEAST_BOXES} to {model.MOST_BOXES}."),
]


@strawberry.type(description="A piece of what the answer needed, and the operation that lost the piece.")
class SpinePiece:
    """The fields of ``attribution.spine.model.Piece``."""

    is_type_of = is_model(model.Piece)

    text: str = strawberry.field(description="The piece, quoted from the evidence.")
    error_type: ErrorType | None = strawberry.field(
        description="How the piece was lost; null if it was not lost, or if nobody knows."
    )
    operation_id: strawberry.ID | None = strawberry.field(
        description="The id of the operation that lost the piece; null if the verdict names none."
    )
    operation_name: str | None = strawberry.field(description="The operation's name, for people.")
    confidence: float = strawberry.field(description="How sure this is, from 0 to 1.")
    reached: bool = strawberry.field(description="Whether the piece is in the answer.")


@strawberry.type(description="Whether a piece is in a box.")
class SpinePieceState:
    """The fields of ``attribution.spine.model.PieceState``."""

    is_type_of = is_model(model.PieceState)

    piece: int = strawberry.field(description="The place of the piece in `pieces`, from 0.")
    state: model.State = strawberry.field(description="Whether the piece is there.")


@strawberry.type(description="The number of a box's members of one kind.")
class SpineKind:
    """The fields of ``attribution.spine.model.KindCount``."""

    is_type_of = is_model(model.KindCount)

    kind: str = strawberry.field(description="The kind of a variable, or Operation.")
    count: int = strawberry.field(description="How many.")


@strawberry.type(description="A variable, or a group of variables and operations. Each is a member of one box only.")
class SpineBox:
    """The fields of ``attribution.spine.model.Box``."""

    project_id: strawberry.Private[str]
    variables_of: strawberry.Private[list[str]]
    number: int = strawberry.field(description="The box's index in `boxes`.")
    kind: str = strawberry.field(
        description="The kind of the members; for a run of equal steps, the kind of the steps. Operation for an "
        "operation without outputs that can be shown; Others if the kinds differ."
    )
    label: str = strawberry.field(
        description="A name for people; the name of a group counts its members, such as `Buffer × 11`."
    )
    text: str = strawberry.field(
        description="The words that show the piece, or the beginning of the value; empty for a group."
    )
    count: int = strawberry.field(description="How many members it has.")
    kinds: list[SpineKind] = strawberry.field(
        description="The kinds of all its members, the most frequent first.", metadata={"size": 5}
    )
    variable_ids: list[strawberry.ID] = strawberry.field(
        description=f"The ids of its variables in the order of the trace, the first {model.LISTED}; `variables` pages "
        "through all variables."
    )
    operation_ids: list[strawberry.ID] = strawberry.field(
        description=f"The ids of operations that the box shows because they made no variables, the first "
        f"{model.LISTED}."
    )
    layer: int = strawberry.field(
        description="The layer, from left to right: 0 for messages, the highest for the answer. Edges lead to "
        "higher layers."
    )
    roles: list[model.Role] = strawberry.field(
        description="Why the box is on the spine; empty for a box that only feeds the spine."
    )
    states: list[SpinePieceState] = strawberry.field(
        description="For each piece that passes the box, whether it is in the box.", metadata={"size": 8}
    )
    is_others: bool = strawberry.field(description="Whether the box only feeds the spine; it is drawn dashed.")
    is_decisive: bool = strawberry.field(description="Whether the blamed operation is a member or made a member.")
    is_past: bool = strawberry.field(description="Whether the answer is a member or was made from a member.")

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
        description=f"The operations that the box shows because they made no variables, the first {model.LISTED}.",
        metadata={"size": 2},
    )
    async def operations(self, info: Info) -> list[OperationRef]:
        load = info.context.load
        found = await asyncio.gather(
            *(load(self.project_id, reads.elements, id_, Label.OPERATION) for id_ in self.operation_ids)
        )
        return [one for one in found if one is not None]


@strawberry.type(description="Operations with the same name on an edge.")
class SpineOperation:
    """The fields of ``attribution.spine.model.EdgeOperation``."""

    is_type_of = is_model(model.EdgeOperation)

    name: str = strawberry.field(description="Their name, for people.")
    kind: str = strawberry.field(description="Their kind.")
    count: int = strawberry.field(description="How many operations.")
    is_decisive: bool = strawberry.field(description="Whether the blamed operation is among these operations.")


@strawberry.type(
    description="An edge between two boxes: derivations from members of the first box to members of the second box,"
    " or an operation that used the first box and carried nothing into the second box."
)
class SpineEdge:
    """The fields of ``attribution.spine.model.Edge``."""

    is_type_of = is_model(model.Edge)

    source: int = strawberry.field(description="The index in `boxes` of the box where the edge begins.")
    target: int = strawberry.field(description="The index in `boxes` of the box where the edge ends.")
    derivations: int = strawberry.field(description="The number of derivations on this edge; 0 if nothing was derived.")
    operations: list[SpineOperation] = strawberry.field(
        description="The operations on this edge by name, the most frequent first.", metadata={"size": 3}
    )
    lost: list[int] = strawberry.field(
        description="The indices in `pieces` of pieces that were lost on this edge; the edge is drawn broken."
    )


@strawberry.type(
    description="The spine of a failure: the causal past of its answer, and the paths of evidence that did not "
    "reach the answer, as an acyclic picture of a few boxes."
)
class Spine:
    """The fields of ``attribution.spine.model.Spine``."""

    project_id: strawberry.Private[str]
    verdict_id: strawberry.ID | None = strawberry.field(
        description="The id of the verdict that says where pieces were lost; null without a verdict. A person's "
        "verdict is preferred to a model's, and a model's to the free pass's."
    )
    variable_count: int = strawberry.field(description="The number of variables in all boxes.")
    pieces: list[SpinePiece] = strawberry.field(
        description="What the answer needed; empty without a verdict that follows pieces.", metadata={"size": 8}
    )
    boxes: list[SpineBox] = strawberry.field(
        description="The boxes by layer, and within a layer in the order of the trace.",
        metadata={"size": model.BOXES},
    )
    edges: list[SpineEdge] = strawberry.field(
        description="The edges between the boxes.", metadata={"size": 2 * model.BOXES}
    )

    @strawberry.field(description="The verdict that says where pieces were lost.")
    async def verdict(self, info: Info) -> AttributionRef | None:
        if self.verdict_id is None:
            return None
        return await info.context.load(self.project_id, reads.elements, self.verdict_id, Label.ATTRIBUTION)


async def spine_of(info: Info, failure: models.Failure, most: int) -> Spine:
    """The spine of a failure.

    Raises:
        InputError: ``most`` is out of range, or the trace is too large to be analysed while a caller waits.
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
    """The spines of several failures. Failures of traces that are too large are left out."""
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
    """The given records, typed as their GraphQL type: the schema reads fields from the records."""
    return things


def _id(id_: str | None) -> strawberry.ID | None:
    return None if id_ is None else strawberry.ID(id_)
