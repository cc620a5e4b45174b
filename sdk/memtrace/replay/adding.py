"""A sentence put into what an operation gives back: into a text, a list of texts, or a value changed in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_origin

from memtrace.replay.do import UNSET


def added(value: Any, text: str, before: str | None, annotation: Any) -> Any:
    """The value with a text in it; ``UNSET`` where it has no place for one.

    Args:
        value: what an operation gives back.
        text: what is put in.
        before: of a text, the line that has this comes after it, if there is one.
        annotation: what the operation says that it gives back: an empty list doesn't say what it is a list of.
    """
    if isinstance(value, str):
        return _in_text(value, text, before)
    if isinstance(value, list | tuple) and _takes_texts(value, annotation):
        return type(value)((*value, text)) if isinstance(value, tuple) else [*value, text]
    return UNSET


def put_into(value: object, text: str) -> bool:
    """Put a text into a list of texts, in place; whether that could be done."""
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
