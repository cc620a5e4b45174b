"""Reads JSON that somebody else wrote, with a bound on how deep lists and objects are nested.

A few kilobytes can nest thousands of lists. Parsers, validators and encoders then fail with ``RecursionError``: some at
once, some only when what was stored is read again. ``read_json`` refuses JSON that is nested too deep.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar, overload

import msgspec

MAX_DEPTH = 100
"""How deep lists and objects may be nested."""

T = TypeVar("T")

_TOO_DEEP = f"lists and objects are nested more than {MAX_DEPTH} deep"
# The second branch of the end keeps the time linear in a text that is no JSON: an unclosed string takes all of it.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))
_AS_LISTS = bytes.maketrans(b"{}", b"[]")


class JsonError(msgspec.DecodeError, ValueError):
    """A text that is no JSON, has another form, or is nested too deep; the message says which."""


@overload
def read_json(text: str | bytes) -> Any: ...


@overload
def read_json(text: str | bytes, form: type[T]) -> T: ...


def read_json(text: str | bytes, form: Any = Any) -> Any:
    """The value of a JSON text.

    Args:
        text: the text. ``NaN``, ``Infinity``, integers beyond 64 bits, and halves of surrogate pairs are no JSON.
        form: the type of the value. Members that the type does not know are skipped, and may not be nested too deep
            either.

    Raises:
        JsonError: the text is no JSON, has another form, or is nested too deep.
    """
    try:
        data = text.encode() if isinstance(text, str) else text
        found = msgspec.json.decode(data, type=form)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise JsonError(str(error)) from None
    except RecursionError:
        raise JsonError(_TOO_DEEP) from None
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _is_too_deep(data):
        raise JsonError(_TOO_DEEP)
    return found


def _is_too_deep(data: bytes) -> bool:
    """Whether valid JSON is nested too deep: each turn takes the innermost lists and objects away."""
    brackets = _STRING.sub(b"", data).translate(_AS_LISTS, _OTHERS)
    for _ in range(MAX_DEPTH):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)
