"""Keeps the parts of a record that its element can't express, so that an export restores the record exactly.

The attributes of an element are the record's ``metadata``. Unknown keys, missing keys and unusual values, which can't
be computed from the element, are kept in the attributes under the key ``smartcomment``::

    {"speaker": "Ann", "smartcomment": {"set": {"trigger_point": "?"}, "absent": ["user_id"], "position": 7}}

If ``metadata`` itself has the key ``smartcomment``, the whole metadata is kept under ``smartcomment`` too.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from schema.models import NO_ATTRIBUTES
from schema.outside_json import read_json

KEY = "smartcomment"
FILE = "file"
"""Key of a trace's kept data: plain name of the trace's latest file, by which label files name the trace."""

_MISSING = object()


class MetadataReader:
    """Turns metadata into attributes; the result for equal metadata is reused, because edges repeat their metadata."""

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {b"{}": NO_ATTRIBUTES}

    def read(self, raw: msgspec.Raw | UnsetType) -> str:
        """Attributes for a record's metadata; absent metadata counts as an empty object.

        Raises:
            ValueError: the metadata is no object.
        """
        if raw is UNSET:
            return NO_ATTRIBUTES
        data = bytes(raw)
        text = self._known.get(data)
        if text is None:
            value = read_json(data)
            if not isinstance(value, dict):
                raise ValueError("Expected 'object'")
            text = as_attributes(value)
            self._known[data] = text
        return text


def difference(actual: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """``set`` (values) and ``absent`` (keys) that turn the computed record into the actual one; each only if needed."""
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
    """Metadata as attributes, without kept data."""
    return msgspec.json.encode({KEY: {"metadata": metadata}} if KEY in metadata else metadata).decode()


def join(attributes: str, leftover: dict[str, Any]) -> str:
    """Attributes (see ``as_attributes``) with kept data added."""
    if not leftover:
        return attributes
    values = msgspec.json.decode(attributes)
    values[KEY] = {**values.get(KEY, {}), **leftover}
    return msgspec.json.encode(values).decode()


def split(attributes: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The inverse of ``as_attributes`` and ``join``: metadata and kept data."""
    metadata = msgspec.json.decode(attributes)
    leftover = metadata.pop(KEY, {})
    if "metadata" in leftover:
        metadata = leftover.pop("metadata")
    return metadata, leftover


def file_of(attributes: str) -> str | None:
    """Plain name of a trace's latest file, from the trace's attributes; None if unknown."""
    kept = msgspec.json.decode(attributes).get(KEY)
    name = kept.get(FILE) if isinstance(kept, dict) else None
    return name if isinstance(name, str) else None


def apply(record: dict[str, Any], leftover: dict[str, Any]) -> dict[str, Any]:
    """The original record: the computed one, changed by the kept data."""
    for key in leftover.get("absent", ()):
        record.pop(key, None)
    record.update(leftover.get("set", {}))
    return record
