"""Keeps what a record contains beyond its element, so that an export gives the record back as it was.

The attributes of an element are the ``metadata`` of its record. What can't be computed from the element again (unknown
keys, missing keys, unusual values) is kept in them under ``smartcomment``::

    {"speaker": "Ann", "smartcomment": {"set": {"trigger_point": "?"}, "absent": ["user_id"], "position": 7}}

If ``metadata`` uses that key itself, it is kept whole under ``smartcomment`` too.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from schema.models import NO_ATTRIBUTES

KEY = "smartcomment"
FILE = "file"
"""Of a trace, among what is kept: the plain name of the file that it came in last; labels call the trace by it."""

_MISSING = object()


class MetadataReader:
    """Metadata as attributes; equal metadata is read once, for edges repeat it."""

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {b"{}": NO_ATTRIBUTES}

    def read(self, raw: msgspec.Raw | UnsetType) -> str:
        """The attributes that a record's metadata makes; of absent metadata those of an empty object.

        Raises:
            ValueError: it is no object.
        """
        if raw is UNSET:
            return NO_ATTRIBUTES
        data = bytes(raw)
        text = self._known.get(data)
        if text is None:
            value = msgspec.json.decode(data)
            if not isinstance(value, dict):
                raise ValueError("Expected 'object'")
            text = as_attributes(value)
            self._known[data] = text
        return text


def difference(actual: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """What to keep of a record beside what can be computed: ``set`` and ``absent``, each only where needed."""
    kept = {key: value for key, value in actual.items() if not _same(value, expected.get(key, _MISSING))}
    absent = [key for key in expected if key not in actual]
    found: dict[str, Any] = {}
    if kept:
        found["set"] = kept
    if absent:
        found["absent"] = absent
    return found


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


def as_attributes(metadata: dict[str, Any]) -> str:
    """Metadata as attributes, with nothing kept beside it."""
    return msgspec.json.encode({KEY: {"metadata": metadata}} if KEY in metadata else metadata).decode()


def join(attributes: str, leftover: dict[str, Any]) -> str:
    """Attributes (see ``as_attributes``) with what is kept beside the metadata."""
    if not leftover:
        return attributes
    values = msgspec.json.decode(attributes)
    values[KEY] = {**values.get(KEY, {}), **leftover}
    return msgspec.json.encode(values).decode()


def split(attributes: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The inverse of ``as_attributes`` and ``join``: metadata, and what was kept beside it."""
    metadata = msgspec.json.decode(attributes)
    leftover = metadata.pop(KEY, {})
    if "metadata" in leftover:
        metadata = leftover.pop("metadata")
    return metadata, leftover


def file_of(attributes: str) -> str | None:
    """The plain name of the file that a trace came in last, from its attributes; None where it is not known."""
    kept = msgspec.json.decode(attributes).get(KEY)
    name = kept.get(FILE) if isinstance(kept, dict) else None
    return name if isinstance(name, str) else None


def apply(record: dict[str, Any], leftover: dict[str, Any]) -> dict[str, Any]:
    """The record as it was: computed, with what was kept in place."""
    for key in leftover.get("absent", ()):
        record.pop(key, None)
    record.update(leftover.get("set", {}))
    return record
