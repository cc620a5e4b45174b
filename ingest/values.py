"""How a value stands on its variable, and what of it is kept beside the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memtrace import events as wire

from schema.ids import hash_value
from schema.models import PREVIEW_CHARACTERS, WHOLE_VALUE_BYTES

MOST_REBUILT_BYTES = 64 << 20
"""Of values that are rebuilt in memory at once: a few bytes on the wire may stand for a long one."""


@dataclass(frozen=True, slots=True)
class ValueParts:
    """The parts of a value.

    Attributes:
        whole: the value, where it is small enough to stand on the variable.
        data: its bytes, where they have to be kept beside the graph.
        size: bytes in UTF-8.
    """

    preview: str
    whole: str | None
    data: bytes | None
    value_hash: str
    size: int


def value_parts(text: str) -> ValueParts:
    """The parts of a text."""
    data = text.encode("utf-8", "surrogatepass")
    is_small = len(data) <= WHOLE_VALUE_BYTES
    return ValueParts(
        text[:PREVIEW_CHARACTERS],
        text if is_small else None,
        None if is_small else data,
        hash_value(data),
        len(data),
    )


def rebuilt(event: wire.VariableEvent, base: wire.Base, beginning: str, is_cut: bool) -> wire.VariableEvent:
    """The event with its whole value in place of what is new in it.

    Args:
        event: what came.
        base: its base.
        beginning: the value of the variable that the base names.
        is_cut: whether that value was cut; what is to be kept of it may be gone then, and the result is cut too.

    Raises:
        ValueError: it does not fit together; says what and where.
    """
    if base.size > MOST_REBUILT_BYTES:
        raise ValueError(f"base.size: {base.size} bytes; a value is rebuilt up to {MOST_REBUILT_BYTES}")
    if base.kept > len(beginning):
        if not is_cut:
            raise ValueError(
                f"base.kept: {base.kept} characters, but the value of {base.variable!r} has {len(beginning)}"
            )
        size = event.size if event.truncated else base.size
        return _replaced(event, beginning, truncated=True, size=size, media_type="text/plain")
    value = beginning[: base.kept] + event.value
    size = len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
    if size != base.size:
        raise ValueError(f"base.size: {base.size} bytes, but the whole value comes to {size}")
    return _replaced(event, value)


def portions(events: Iterable[tuple[int, wire.Event]]) -> Iterator[list[tuple[int, wire.Event]]]:
    """The events in their order, cut so that no portion rebuilds more than ``MOST_REBUILT_BYTES``, or one value."""
    portion: list[tuple[int, wire.Event]] = []
    size = 0
    for index, event in events:
        more = event.base.size if isinstance(event, wire.VariableEvent) and event.base is not None else 0
        if portion and size + more > MOST_REBUILT_BYTES:
            yield portion
            portion, size = [], 0
        portion.append((index, event))
        size += more
    if portion:
        yield portion


def _replaced(event: wire.VariableEvent, value: str, **said: object) -> wire.VariableEvent:
    return event.model_copy(update={"value": value, "base": None, **said})
