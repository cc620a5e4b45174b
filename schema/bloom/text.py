"""JSON that can be compared line by line."""

from __future__ import annotations

import json
from typing import Any


def as_text(document: Any) -> str:
    """The document as JSON. An object or list of plain values is on one line, which makes differences readable."""
    return _lines(document, "") + "\n"


def _lines(value: Any, margin: str) -> str:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not any(isinstance(part, dict | list) for part in inside):
        return json.dumps(value, ensure_ascii=False)
    deeper = margin + "  "
    if isinstance(value, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {_lines(part, deeper)}" for key, part in value.items()]
        opening, closing = "{", "}"
    else:
        parts = [_lines(part, deeper) for part in value]
        opening, closing = "[", "]"
    body = ",\n".join(deeper + part for part in parts)
    return f"{opening}\n{body}\n{margin}{closing}"
