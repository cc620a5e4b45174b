"""Records the blocks of a memory: what a model extracts from flushed messages, and what a block then keeps."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from memtrace.identity import Variable
from memtrace.instruments.frameworks.runs import Run
from memtrace.instruments.making import Making
from memtrace.instruments.units import written

_SETTINGS = frozenset({"name", "description"})


@dataclass
class Filling:
    """Messages on their way into a block.

    Attributes:
        run: around the block's operations.
        block: the block.
        place: a name for the store of the block's unit.
        messages: the flushed messages.
        replies: of the models, since the last change of the block.
        before: what the block kept at its last change.
    """

    run: Run
    block: Any
    place: str
    messages: list[Variable]
    replies: list[Variable] = field(default_factory=list)
    before: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.before = _state(self.block)

    def store(self) -> None:
        """Record what has changed in the block: a new version of its unit."""
        now = _state(self.block)
        changed = {key: value for key, value in now.items() if value != self.before.get(key)}
        if not changed:
            return
        dropped = [one for key in changed for one in self.before.get(key) or () if one not in now[key]]
        kind = type(self.block).__name__
        making = Making(self.run.here, f"{kind} {'condense' if dropped else 'add'}", "Update")
        sources = self.replies or self.messages
        for one in sources:
            making.use(one)
        texts = [one for part in now.values() for one in ([part] if isinstance(part, str) else part)]
        written(making, (self.place, str(self.block.name)), "\n".join(texts), sources=sources, leaves=texts)
        making.end()
        self.before, self.replies = now, []


def _state(block: Any) -> dict[str, Any]:
    """What a block keeps: its fields that are texts or lists of texts."""
    found: dict[str, Any] = {}
    for key, value in vars(block).items():
        if key in _SETTINGS or key.startswith("_"):
            continue
        if isinstance(value, str):
            found[key] = value
        elif isinstance(value, list) and all(isinstance(one, str) for one in value):
            found[key] = list(value)
    return found


filling: ContextVar[Filling | None] = ContextVar("memtrace.llamaindex.filling", default=None)
"""The block that is filled by this code."""
