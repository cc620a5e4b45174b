"""Finds memories in the answers of EverMind's servers, in all versions of the interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 6
MAX_ITEMS = 2_000

_TEXTS = ("episode", "atomic_fact", "foresight", "summary", "content", "description", "text")
"""Fields for the text of a memory; the first field with a text counts."""

_NO_MEMORIES = frozenset({"original_data", "pending_messages", "raw_messages", "unprocessed_messages"})
"""Fields with messages that are no memory yet, or that a memory was made from."""


@dataclass(frozen=True, slots=True)
class Item:
    """A memory: its id, text and score, and the application's object (``value``)."""

    id: str
    text: str
    score: float | None
    value: Any


def items(answer: Any) -> list[Item]:
    """The memories in an answer, each once."""
    found: dict[str, Item] = {}
    for value in _objects(answer):
        fields = value if isinstance(value, Mapping) else vars(value)
        id_ = fields.get("id") or fields.get("memory_id")
        text = next((said for said in (_said(fields.get(name)) for name in _TEXTS) if said), None)
        if not isinstance(id_, str) or not id_ or text is None:
            continue
        score = fields.get("score")
        found.setdefault(id_, Item(id_, text, float(score) if isinstance(score, int | float) else None, value))
    return list(found.values())


def _said(value: Any) -> str | None:
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    return value if isinstance(value, str) and value else None


def _objects(answer: Any) -> Iterator[Any]:
    """Dictionaries and models inside an answer, in their order."""
    stack, left = [(answer, 0)], MAX_ITEMS
    while stack and left:
        value, depth = stack.pop()
        left -= 1
        if isinstance(value, Mapping) or hasattr(type(value), "model_fields"):
            yield value
            fields = value if isinstance(value, Mapping) else vars(value)
            inside = [one for name, one in fields.items() if name not in _NO_MEMORIES]
        elif isinstance(value, list | tuple):
            inside = list(value)
        else:
            continue
        if depth < MAX_DEPTH:
            stack += [(one, depth + 1) for one in reversed(inside)]
