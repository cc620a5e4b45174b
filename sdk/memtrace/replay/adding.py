"""Adds a text to the result of an operation: to a text, to a list of texts, or to a value that was changed in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_origin

from memtrace.replay.do import UNSET


def added(value: Any, text: str, before: str | None, annotation: Any) -> Any:
    """The value with an added text; ``UNSET`` if the value has no place for a text.

    Args:
        value: the result of an operation.
        text: the text to add.
        before: if ``value`` is a text, ``text`` goes before the line that contains this.
        annotation: the operation's return annotation, which tells the type of an empty list.
    """
    if isinstance(value, str):
        return _in_text(value, text, before)
    if isinstance(value, list | tuple) and _takes_texts(value, annotation):
        return type(value)((*value, text)) if isinstance(value, tuple) else [*value, text]
    return UNSET


def put_into(value: object, text: str) -> bool:
    """Append a text to a list of texts; False if the value is no list of texts."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value.append(text)
        return True
    return False


def _in_text(value: str, text: str, before: str | None) -> str:
    place = value.rfind(before) if before else -1
    if place < 0:
        return f"{value}\n{text}"
    line = value.rfind("\n", 0, place) + 1
    return f"{value[:line]}{text}\n{value[line:]}"


def _takes_texts(value: Sequence[Any], annotation: Any) -> bool:
    if value:
        return all(isinstance(item, str) for item in value)
    return get_origin(annotation) in {list, tuple, Sequence} and get_args(annotation)[:1] == (str,)
