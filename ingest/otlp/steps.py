"""What a span says, in words that all dialects share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memtrace.kinds import OperationKind, VariableKind

from ingest.otlp.spans import Span


@dataclass(frozen=True, slots=True)
class Piece:
    """A value that goes into a step or comes out of it.

    Attributes:
        kind: the kind of its variable.
        name: the name of its variable.
        text: the value; None where the sender captured no content, and only says that it was there.
        is_outside: whether it came from outside the recorded system, such as a question of a user.
        store: the memory or data source that keeps it, if it is kept.
        id: its id there.
        is_write: whether the step wrote it there; otherwise it was read.
        version: a number that is greater in later versions.
        score: how a search rated it.
    """

    kind: VariableKind
    name: str
    text: str | None
    is_outside: bool = False
    store: str | None = None
    id: str | None = None
    is_write: bool = False
    version: int = 0
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a step deleted: one unit, or all of a store where ``id`` is None."""

    store: str | None
    id: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """What a span says.

    Attributes:
        dialect: the name of the dialect that told.
        category: the dialect's own word for what was done.
        session: the id of the conversation.
        taken: beginnings of the names of attributes that are in the pieces, and need not be kept twice.
    """

    dialect: str
    kind: OperationKind
    category: str | None = None
    inputs: Sequence[Piece] = ()
    outputs: Sequence[Piece] = ()
    deleted: Deleted | None = None
    session: str | None = None
    taken: tuple[str, ...] = ()


Dialect = Callable[[Span], "Step | None"]
"""Reads a span; None if it is not of this dialect."""
