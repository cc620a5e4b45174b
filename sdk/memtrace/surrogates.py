"""Finds halves of surrogate pairs in JSON: UTF-8 has no bytes for a half, so the text can't be stored."""

from __future__ import annotations

import re

_SHOWN_CHARACTERS = 80
_HALF = re.compile("[\\ud800-\\udfff]")
_WRITTEN = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def may_have_half(text: str) -> bool:
    """Whether JSON text may contain half of a pair. Also true for an escaped whole pair: ``place_of_half`` decides."""
    return _WRITTEN.search(text) is not None


def place_of_half(found: object) -> str | None:
    """The path of a field that contains half of a surrogate pair, in a parsed JSON value; None if no field does."""
    waiting: list[tuple[str, object]] = [("", found)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, str) and _HALF.search(value):
            return place
        if isinstance(value, dict):
            if any(_HALF.search(key) for key in value):
                return f"{place} (a key)" if place else "a key"
            waiting += [(f"{place}.{key}".lstrip(".")[:_SHOWN_CHARACTERS], item) for key, item in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{place}.{index}"[:_SHOWN_CHARACTERS], item) for index, item in enumerate(value)]
    return None
