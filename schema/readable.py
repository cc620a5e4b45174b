"""Recorded values as people would write them."""

from __future__ import annotations

import ast


def readable(text: str) -> str:
    """The value as people would write it; smartcomment stores a text without an encoder as Python's ``repr``."""
    if text[:1] in {"'", '"'} and text[-1:] == text[:1]:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return text
        return value if isinstance(value, str) else text
    return text
