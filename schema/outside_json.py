"""Reads JSON that somebody else wrote, with a bound on how deep lists and objects are nested.

A few kilobytes can nest thousands of lists. Parsers, validators and encoders then fail with ``RecursionError``: some at
once, some only when what was stored is read again. Such JSON is refused where it comes in.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

MAX_DEPTH = 100
"""How deep lists and objects may be nested."""

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))
_AS_LISTS = bytes.maketrans(b"{}", b"[]")


class JsonError(msgspec.DecodeError, ValueError):
    """A text that is no JSON, or is nested too deep; the message says which."""


def read_json(text: str | bytes, depth: int = MAX_DEPTH) -> Any:
    """The value of a JSON text.

    Args:
        text: the text. ``NaN``, ``Infinity``, integers beyond 64 bits, and halves of surrogate pairs are no JSON.
        depth: how deep lists and objects may be nested.

    Raises:
        JsonError: the text is no JSON, or is nested too deep.
    """
    try:
        data = text.encode() if isinstance(text, str) else text
        found = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise JsonError(str(error)) from None
    except RecursionError:
        raise _too_deep(depth) from None
    if data.count(b"[") + data.count(b"{") > depth and _is_deeper(data, depth):
        raise _too_deep(depth)
    return found


def _is_deeper(data: bytes, depth: int) -> bool:
    """Whether valid JSON is nested deeper: each turn takes the innermost lists and objects away."""
    brackets = _STRING.sub(b"", data).translate(_AS_LISTS, _OTHERS)
    for _ in range(depth):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _too_deep(depth: int) -> JsonError:
    return JsonError(f"lists and objects are nested more than {depth} deep")
