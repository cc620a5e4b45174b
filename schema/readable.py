"""Recorded values without the quotes of Python's ``repr``."""

from __future__ import annotations

import ast


def readable(text: str) -> str:
    """The text that a ``repr`` of a string stands for; any other text unchanged.

    smartcomment stores a text that has no encoder as Python's ``repr``.
    """
    if text[:1] in {"'", '"'} and text[-1:] == text[:1]:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return text
        return value if isinstance(value, str) else text
    return text
