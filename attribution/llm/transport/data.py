"""Puts data into prompts: escaped, so that no value can pass for a part of the prompt."""

from __future__ import annotations

import json
from typing import Any

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def as_data(document: Any) -> str:
    """A document as JSON without any ``<``, ``>`` or ``&``.

    In JSON these stand only inside strings, where an escape means the same. So no value closes a block of data, and
    none holds one of the marks by which servers part the roles of a conversation, such as ``<|im_start|>``.
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)
    return text.encode("utf-8", "backslashreplace").decode()


def data_block(document: Any) -> str:
    """A document between the marks that the prompts speak of."""
    return f"<data>\n{as_data(document)}\n</data>"
