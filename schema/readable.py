"""Recorded values in the form in which people write them."""

from __future__ import annotations

import ast


def readable(text: str) -> str:
    """A recorded value as people write it: smartcomment stores text that has no encoder as Python's ``repr``."""
    if text[:1] in {"'", '"'} and text[-1:] == text[:1]:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return text
        return value if isinstance(value, str) else text
    return text
