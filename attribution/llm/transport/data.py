"""Puts data into prompts, escaped, so that no value can look like a part of the prompt."""

from __future__ import annotations

import json
from typing import Any

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def as_data(document: Any) -> str:
    """A document as JSON without any ``<``, ``>`` or ``&``.

    In JSON these characters occur only inside strings, where escapes are equivalent. So no value can close a block of
    data or contain a marker of roles in a conversation, such as ``<|im_start|>``.
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)
    return text.encode("utf-8", "backslashreplace").decode()


def data_block(document: Any) -> str:
    """A document between the markers that the prompts mention."""
    return f"<data>\n{as_data(document)}\n</data>"
