"""Cuts long attributes of spans to the limit of one element; the cut is visible in the attribute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

MOST_BYTES = 192 << 10
"""Largest size of a span's attributes in bytes. An element may have 256 KiB; the rest is for our own attributes."""

_LONG_BYTES = 16 << 10
_KEPT_CHARACTERS = 1_000


def bounded(attributes: Mapping[str, Any], most: int = MOST_BYTES) -> dict[str, Any]:
    """The attributes, cut to 16 KiB each and ``most`` bytes together."""
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
