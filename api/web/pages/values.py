"""What recorded values say to people: the text inside JSON, Python literals and code blocks."""

from __future__ import annotations

import ast
import re

from schema.outside_json import JsonError, read_json

_LITERALS = ("'", '"', "[", "{", "(")
_FENCE = re.compile(r"```(?:[a-z]+\n)?(.*)```", re.DOTALL)


def text_of(preview: str) -> str:
    """What the beginning of a value says: the longest text in JSON or in a literal of Python, else the value itself."""
    text = _unfenced(preview)
    try:
        value = read_json(text)
    except JsonError:
        try:
            value = ast.literal_eval(text) if text[:1] in _LITERALS else text
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return text
    found = max(_texts(value), key=len, default=text)
    return found if found == text or len(found) >= len(preview) else text_of(found)


def _unfenced(text: str) -> str:
    """The text inside the fence of a code block, as models write JSON."""
    fenced = _FENCE.fullmatch(text.strip())
    return fenced[1].strip() if fenced else text


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in _texts(one)]
