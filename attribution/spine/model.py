"""The spine of a failure as data. Names are public, in camel case in JSON."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from schema.kinds import ErrorType

LEAST_BOXES = 5
MOST_BOXES = 60
BOXES = 25
"""Boxes of a spine where nobody says how many."""
LISTED = 20
"""Members of a box that documents list; the count is of all."""


class Drawn(Struct, frozen=True, rename="camel", kw_only=True):
    """A part of a spine: names in camel case in JSON."""


class State(StrEnum):
    """How a box stands to a piece of what the answer needed.

    HAS: the piece is there. LOST: it was lost here: what the box was made from had it, and the box has not. LACKS: it
    is not there, and was lost before.
    """

    HAS = "has"
    LOST = "lost"
    LACKS = "lacks"


class Role(StrEnum):
    """Why something is on the spine.

    EVIDENCE: a message that tells the right answer. QUESTION, ANSWER: of the failure. READ: the operation that
    answered read it. HOLDER: the last that had a piece. LOSS: where a piece was lost. PATH: on the way of a piece.
    """

    EVIDENCE = "evidence"
    QUESTION = "question"
    ANSWER = "answer"
    READ = "read"
    HOLDER = "holder"
    LOSS = "loss"
    PATH = "path"


class Piece(Drawn, frozen=True, kw_only=True):
    """What the answer needed.

    Attributes:
        text: quoted from the evidence.
        operation_id: what lost it; None where it was not lost, or nobody knows where.
        operation_name: that operation's name, for people.
        reached: whether it is in the answer.
    """

    text: str
    error_type: ErrorType | None
    operation_id: str | None
    operation_name: str | None
    confidence: float
    reached: bool


class PieceState(Drawn, frozen=True, kw_only=True):
    """How a box stands to a piece; ``piece`` is the piece's place among those of the spine, from 0."""

    piece: int
    state: State


class KindCount(Drawn, frozen=True, kw_only=True):
    """How many members of a box are of a kind."""

    kind: str
    count: int


class Box(Drawn, frozen=True, kw_only=True):
    """A variable, or a group of variables and operations.

    Attributes:
        kind: that of its members; of a run, that of its steps; ``Operation`` of an operation that made nothing which
            could be shown in its place; ``Others`` where the kinds differ.
        label: for people; of a group, what it holds and how many, such as ``Buffer × 11``.
        text: what the piece's words are in it, else how the value begins; empty for a group.
        count: members.
        kinds: the kinds of all members, the most frequent first.
        variables: ids of its variables, in the order of the trace; documents list the first of them.
        operations: ids of the operations that stand in it as members, because they made nothing.
        layer: its place from left to right: 0 for what is made from nothing else. Edges lead to higher layers.
        roles: why it is on the spine; empty for others.
        states: how it stands to pieces, by the piece.
        is_decisive: whether the operation that the verdict blames made one of its members, or is one.
        is_past: whether the answer was made from one of its members; true for the answer itself.
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
        """Whether it is not on the spine, and stands for what feeds it."""
        return not self.roles


class EdgeOperation(Drawn, frozen=True, kw_only=True):
    """Operations of one name that an edge stands for.

    Attributes:
        name: for people.
        kind: their kind.
        count: how many operations.
        is_decisive: whether the operation that the verdict blames is one of them.
    """

    name: str
    kind: str
    count: int
    is_decisive: bool


class Edge(Drawn, frozen=True, kw_only=True):
    """What leads from one box to another.

    Attributes:
        source, target: places of boxes among those of the spine, from 0.
        derivations: how many derivations it stands for; 0 where nothing was derived: the operation had the source at
            hand and brought nothing of it into the target.
        operations: by count.
        lost: places of the pieces that were lost on it: it is drawn broken.
    """

    source: int
    target: int
    derivations: int
    operations: list[EdgeOperation]
    lost: list[int]


class Spine(Drawn, frozen=True, kw_only=True):
    """The causal past of an answer, united with the ways of the evidence, as boxes.

    Attributes:
        attribution_id: the verdict that says where pieces were lost; None where there is none.
        boxes: by layer; within a layer in the order of the trace.
        edges: by source and target.
        pieces: what the answer needed; empty without a verdict that follows any.
        variables: how many there are in all boxes.
    """

    failure_id: str
    attribution_id: str | None
    boxes: list[Box]
    edges: list[Edge]
    pieces: list[Piece]
    variables: int


def shortened(spine: Spine, most: int = LISTED) -> Spine:
    """The spine with the first members of each box only."""
    boxes = [
        replace(box, variables=box.variables[:most], operations=box.operations[:most]) if box.count > most else box
        for box in spine.boxes
    ]
    return replace(spine, boxes=boxes)
