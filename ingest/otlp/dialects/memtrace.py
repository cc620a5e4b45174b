"""MemTrace's own attributes, for what no convention has; docs/otlp.md describes them.

A span has either ``memtrace.events`` (complete wire events), or ``memtrace.operation.kind`` with inputs and outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from memtrace.kinds import OperationKind, VariableKind

from ingest.otlp.dialects.items import session_of
from ingest.otlp.reading import number, objects, text_of, words
from ingest.otlp.spans import Span
from ingest.otlp.steps import Deleted, Item, Step

K = TypeVar("K", bound=StrEnum)

TRACE = "memtrace.trace"
SESSION = "memtrace.session"
EVENTS = "memtrace.events"
KIND = "memtrace.operation.kind"
CATEGORY = "memtrace.operation.category"
INPUTS = "memtrace.inputs"
OUTPUTS = "memtrace.outputs"
DELETED = "memtrace.deleted"


def read(span: Span) -> Step | None:
    """The step of a span with ``memtrace.operation.kind``; None for other spans."""
    said = span.attributes
    word = words(said.get(KIND))
    if word is None:
        return None
    deleted = next((Deleted(words(one.get("store")), words(one.get("id"))) for one in objects(said.get(DELETED))), None)
    return Step(
        "memtrace",
        _one_of(OperationKind, word),
        words(said.get(CATEGORY)),
        [_item(one, span, place, "input") for place, one in enumerate(objects(said.get(INPUTS)))],
        [_item(one, span, place, "output") for place, one in enumerate(objects(said.get(OUTPUTS)))],
        deleted,
        session_of(span),
        (INPUTS, OUTPUTS),
    )


def _item(one: Mapping[str, Any], span: Span, place: int, side: str) -> Item:
    is_write, version = one.get("write") is True, one.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version < 2**53:
        version = span.started_ns // 1000 if is_write else 0
    return Item(
        _one_of(VariableKind, words(one.get("kind")) or ""),
        words(one.get("name")) or f"{side} {place}",
        text_of(one.get("value")),
        one.get("outside") is True and side == "input",
        words(one.get("store")),
        words(one.get("id")),
        is_write,
        version,
        number(one.get("score")),
    )


def _one_of(kinds: type[K], word: str) -> K:
    """The kind named ``word``; Other if there is no such kind."""
    return next((kind for kind in kinds if kind.value == word), kinds("Other"))
