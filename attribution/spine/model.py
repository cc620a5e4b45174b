"""The spine of a failure as data. Names are public, in camel case in JSON."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from schema.kinds import ErrorType

LEAST_BOXES = 5
MOST_BOXES = 60
BOXES = 25
"""The default maximal number of boxes."""
LISTED = 20
"""The number of members of a box that documents list; counts include all members."""


class Drawn(Struct, frozen=True, rename="camel", kw_only=True):
    """A part of a spine: names in camel case in JSON."""


class State(StrEnum):
    """The state of a needed piece in a box.

    HAS: the box has the piece. LOST: the piece was lost here: a source of the box had it. LACKS: the piece was lost
    before.
    """

    HAS = "has"
    LOST = "lost"
    LACKS = "lacks"


class Role(StrEnum):
    """Why an element is on the spine.

    EVIDENCE: a message that states the right answer. QUESTION, ANSWER: of the failure. READ: read by the answering
    operation. HOLDER: the last element with a piece. LOSS: the place where a piece was lost. PATH: on the path of a
    piece.
    """

    EVIDENCE = "evidence"
    QUESTION = "question"
    ANSWER = "answer"
    READ = "read"
    HOLDER = "holder"
    LOSS = "loss"
    PATH = "path"


class Piece(Drawn, frozen=True, kw_only=True):
    """A piece of what the answer needed.

    Attributes:
        text: quoted from the evidence.
        operation_id: the operation that lost the piece; None if the piece was not lost, or the operation is unknown.
        operation_name: of that operation, for people.
        reached: whether the answer has the piece.
    """

    text: str
    error_type: ErrorType | None
    operation_id: str | None
    operation_name: str | None
    confidence: float
    reached: bool


class PieceState(Drawn, frozen=True, kw_only=True):
    """The state of a piece in a box; ``piece`` is the index of the piece in the spine, from 0."""

    piece: int
    state: State


class KindCount(Drawn, frozen=True, kw_only=True):
    """The number of members of a kind."""

    kind: str
    count: int


class Box(Drawn, frozen=True, kw_only=True):
    """A variable, or a group of variables and operations.

    Attributes:
        kind: of the members; of a run, the kind of its steps; ``Operation`` for an operation without outputs;
            ``Others`` for different kinds.
        label: for people; for a group, its content and size, such as ``Buffer × 11``.
        text: the piece's words in the value, else the beginning of the value; empty for a group.
        count: the number of members.
        kinds: the kinds of all members, the most frequent first.
        variables: ids of the variables, in the order of the trace; documents list the first ones.
        operations: ids of member operations, which made nothing.
        layer: from left to right; 0 for boxes without sources. Edges lead to higher layers.
        roles: why the box is on the spine; empty for others.
        states: of the pieces, by piece.
        is_decisive: whether the blamed operation is a member, or made one.
        is_past: whether the answer was made from a member; True for the answer itself.
    """

    kind: str
    label: str
    text: str
    count: int
    kinds: list[KindCount]
    variables: list[str]
    operations: list[str]
    layer: int
    roles: list[Role]
    states: list[PieceState]
    is_decisive: bool
    is_past: bool

    @property
    def is_others(self) -> bool:
        """Whether the box is off the spine, and stands for other sources."""
        return not self.roles


class EdgeOperation(Drawn, frozen=True, kw_only=True):
    """Operations of one name on an edge.

    Attributes:
        name: for people.
        kind: of the operations.
        count: the number of operations.
        is_decisive: whether the blamed operation is among them.
    """

    name: str
    kind: str
    count: int
    is_decisive: bool


class Edge(Drawn, frozen=True, kw_only=True):
    """An edge of the drawing, from a source box to a target box.

    Attributes:
        source, target: indexes of boxes in the spine, from 0.
        derivations: the number of derivations; 0 if an operation had the source at hand and brought nothing of it into
            the target.
        operations: by count.
        lost: indexes of the pieces lost on the edge, which is drawn broken.
    """

    source: int
    target: int
    derivations: int
    operations: list[EdgeOperation]
    lost: list[int]


class Spine(Drawn, frozen=True, kw_only=True):
    """The causal past of an answer, united with the paths of the evidence, as boxes.

    Attributes:
        attribution_id: the verdict with the losses; None without a verdict.
        boxes: by layer; within a layer in the order of the trace.
        edges: by source and target.
        pieces: what the answer needed; empty without a verdict that follows pieces.
        variables: the number of variables in all boxes.
    """

    failure_id: str
    attribution_id: str | None
    boxes: list[Box]
    edges: list[Edge]
    pieces: list[Piece]
    variables: int


def shortened(spine: Spine, most: int = LISTED) -> Spine:
    """The spine with only the first members of each box."""
    boxes = [
        replace(box, variables=box.variables[:most], operations=box.operations[:most]) if box.count > most else box
        for box in spine.boxes
    ]
    return replace(spine, boxes=boxes)
