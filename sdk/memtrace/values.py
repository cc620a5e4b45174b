"""Values as text, and which values are data."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from pydantic_core import to_json

TEXT = "text/plain"
JSON = "application/json"

CONTAINERS = (list, tuple, set, frozenset, deque, Mapping)
_NUMBERS = (int, float, complex, bool, type(None))
_TEXTLIKE = (Decimal, UUID, date, time)
_DATA = (str, bytes, bytearray, Enum, *CONTAINERS, *_TEXTLIKE)
_MAX_DEPTH = 40
_LONGEST_SHARED = 40
"""In characters. A longer word counts as no literal, and its object belongs to one value."""
_LAST_SHARED = "\xff"
"""Python has one object for each text of one character up to this one."""


def snapshot(value: object) -> tuple[str, str]:
    """The current value as text, with the media type. A value that is no text is written as JSON."""
    if type(value) is str:
        return value, TEXT
    if isinstance(value, str):
        return str(value.value if isinstance(value, Enum) else str.__str__(value)), TEXT
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace"), TEXT
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)  # the order of a set differs between processes
    try:
        return to_json(value, inf_nan_mode="strings", fallback=_plain).decode(), JSON
    except (TypeError, ValueError, RecursionError):
        return to_json(plain_tree(value)).decode(), JSON


def is_data(value: object) -> bool:
    """Whether the value is information (text, JSON, a model) and not a part of the program (a client, a function)."""
    if isinstance(value, _DATA) or is_number(value):
        return True
    # The class is tested: an object may be a stand-in that raises an error, or has every attribute.
    kind = value.__class__
    return not isinstance(value, type) and (
        dataclasses.is_dataclass(kind) or hasattr(kind, "model_dump") or hasattr(kind, "tolist")
    )


def is_number(value: object) -> bool:
    """Whether the value is a number, a truth value or None: values without an identity."""
    return isinstance(value, _NUMBERS)


def has_identity(value: object) -> bool:
    """Whether the object belongs to this value only; Python shares the objects of numbers and short texts."""
    if isinstance(value, str):
        is_shared = value.isascii() and value.isidentifier() and len(value) <= _LONGEST_SHARED
        return is_copyable(value) and not is_shared
    if isinstance(value, bytes | tuple | frozenset):
        return len(value) > 1
    return not isinstance(value, (*_NUMBERS, Enum, type))


def is_copyable(text: str) -> bool:
    """Whether Python makes a new object for an equal text; empty texts and many single characters are shared."""
    return len(text) > 1 or text > _LAST_SHARED


def own_copy(value: str) -> str:
    """An equal text as another object, if the interpreter makes one."""
    return (value + " ")[:-1]


def clean_text(text: str) -> str:
    """The text without halves of surrogate pairs, which UTF-8 can't represent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _plain(value: object) -> Any:
    """A simpler value in place of ``value``, for JSON."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace")
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, _TEXTLIKE):
        return str(value)
    if isinstance(value, Sequence):
        return list(value)
    return f"<{type(value).__qualname__}>"


def plain_tree(value: object, depth: int = 0) -> Any:
    """``value`` as a JSON value: keys become texts; deep nesting and circles are cut at ``_MAX_DEPTH``."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return clean_text(value)
    if value is None or (isinstance(value, bool | int) and not isinstance(value, Enum)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if depth >= _MAX_DEPTH:
        return f"<{type(value).__qualname__}>"
    if isinstance(value, Mapping):
        return {clean_text(str(key)): plain_tree(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | deque):
        return [plain_tree(item, depth + 1) for item in value]
    return plain_tree(_plain(value), depth + 1)
