"""Attributes within what one element may have: long ones are cut, and say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

MOST_BYTES = 192 << 10
"""Of the attributes of one span. An element may have 256 KiB; the rest is for what is told beside them."""

_LONG_BYTES = 16 << 10
_KEPT_CHARACTERS = 1_000


def bounded(attributes: Mapping[str, Any], most: int = MOST_BYTES) -> dict[str, Any]:
    """Attributes of which no one has more than 16 KiB and all together no more than ``most`` bytes."""
    found: dict[str, Any] = {}
    size = 0
    for name, value in sorted(attributes.items()):
        key = name if len(name) <= _KEPT_CHARACTERS else _cut(name, len(name))
        own = _size(value)
        kept = value if own <= _LONG_BYTES else _cut(value, own)
        size += len(key.encode()) + (own if kept is value else _size(kept)) + 4
        if size > most:
            found["memtrace.cut"] = f"{len(attributes) - len(found)} more attributes, which are too long together"
            break
        found[key] = kept
    return found


def _size(value: Any) -> int:
    return len(msgspec.json.encode(value))


def _cut(value: Any, size: int) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return f"{text[:_KEPT_CHARACTERS]}… ({size:,} bytes)"
