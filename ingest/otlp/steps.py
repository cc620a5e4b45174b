"""A span's meaning as a step with inputs and outputs: the common result of all dialects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memtrace.kinds import OperationKind, VariableKind

from ingest.otlp.spans import Span


@dataclass(frozen=True, slots=True)
class Item:
    """An input or output of a step; it becomes a variable.

    Attributes:
        kind: kind of the variable.
        name: name of the variable.
        text: the value; None if the sender captured no content.
        is_outside: whether the value came from outside the recorded system, such as a question of a user.
        store: the memory or data source that keeps the value, if one does.
        id: id of the value in ``store``.
        is_write: whether the step wrote the value into ``store``; False means the step read the value.
        version: a number that is greater in later versions.
        score: score of the value in a search.
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
    """A deletion by a step: one unit, or all units of a store if ``id`` is None."""

    store: str | None
    id: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """The meaning of a span.

    Attributes:
        dialect: name of the dialect that read the span.
        category: the dialect's own word for the kind of step.
        session: id of the conversation.
        taken: prefixes of the attributes that the items contain; these attributes are not kept again.
        taken_moments: names of the span events that the items contain; these events are not kept again.
        left_out: a line for each thing that no element keeps.
    """

    dialect: str
    kind: OperationKind
    category: str | None = None
    inputs: Sequence[Item] = ()
    outputs: Sequence[Item] = ()
    deleted: Deleted | None = None
    session: str | None = None
    taken: tuple[str, ...] = ()
    taken_moments: frozenset[str] = frozenset()
    left_out: tuple[str, ...] = ()


Dialect = Callable[[Span], "Step | None"]
"""Reads a span; None for a span of another dialect."""
