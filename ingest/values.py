"""How a value stands on its variable, and what of it is kept beside the graph."""

from __future__ import annotations

from dataclasses import dataclass

from schema.ids import hash_value
from schema.models import PREVIEW_CHARACTERS, WHOLE_VALUE_BYTES


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
