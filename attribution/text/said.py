"""What a recorded value says to people: the text inside JSON, Python literals and code blocks, also of a cut value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from attribution.text.fit import middle
from schema.outside_json import JsonError, read_json

NAME = 72
"""The most characters of a name that is made of what a value says."""

_TEXT_KEYS = ("memory", "content", "text", "data", "episode", "page_content", "fact")
"""The members in which objects keep their text."""
_LITERALS = ("'", '"', "[", "{", "(")
_REMEMBERED = 500
"""The longest values whose texts are remembered: the beginnings that the graph keeps are at most so long."""
_ENDS = {"'": "'", '"': '"', "[": "]", "{": "}", "(": ")"}
_FENCE = re.compile(r"```(?:[a-z]+\n)?(.*)```", re.DOTALL)
_SHORT = 40
_MARK = re.compile(r"[0-9a-fA-F]{16,}+|[0-9a-fA-F]{8,}+(?:-[0-9a-fA-F]{4,}+){2,}+|\d{4}-\d\d-\d\d[T ][\d:.+Z]+")
"""An id or a time."""
_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)(?:"(?P<key>\s*+:)?|\\?\Z)', re.DOTALL)
_QUOTED = re.compile(r"'((?:[^'\\]++|\\.)*+)(?:'(?P<key>\s*+:)?|\\?\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def text_of(preview: str) -> str:
    """What the beginning of a value says: the longest text in JSON or in a literal of Python, else the value itself.

    Ids and times are no text, unless there is nothing else.
    """
    return _known_text(preview) if len(preview) <= _REMEMBERED else _text_of(preview)


def _text_of(preview: str) -> str:
    text = _unfenced(preview)
    value = _value(text)
    found = _longest(_texts(value)) or text
    return found if found == text or len(found) >= len(preview) else text_of(found)


def texts_of(preview: str) -> list[str]:
    """All texts in the beginning of a value, in order; the value itself if it is no JSON and no literal of Python."""
    text = _unfenced(preview)
    return [inner for one in _texts(_value(text)) for inner in ([one] if one == text else texts_of(one))]


def said(preview: str, most: int = NAME) -> str:
    """What a value says, in one line of at most this many characters, cut in its middle; empty for an empty value.

    Of a list, all items are said; of an object, its text.
    """
    return _known_name(preview, most) if len(preview) <= _REMEMBERED else _name(preview, most)


def _name(preview: str, most: int) -> str:
    return middle(" ".join(_said(_value(_unfenced(preview)), 4 * most).split()), most)


# A page names the same values again and again, and reading a value takes about 0.1 ms.
_known_text, _known_name = lru_cache(2048)(_text_of), lru_cache(2048)(_name)


def _said(value: object, most: int) -> str:
    """The text of a value, about as long as ``most`` if it is a longer list."""
    if isinstance(value, str):
        inner = _value(_unfenced(value))
        return value if isinstance(inner, str) else _said(inner, most)
    if isinstance(value, Mapping):
        known = [value[key] for key in _TEXT_KEYS if value.get(key)]
        inner = known[:1] or [one for one in value.values() if one and isinstance(one, (str, Mapping, list, tuple))]
        found = _longest(_said(one, most) for one in inner)
        return found or ", ".join(f"{name}: {_said(one, most)}" for name, one in list(value.items())[:10])
    if isinstance(value, (list, tuple)):
        parts: list[str] = []
        for one in value:
            parts.append(_said(one, most))
            if sum(map(len, parts)) > most:
                break
        return "; ".join(filter(None, parts)) or "none"
    return "none" if value is None else str(value)


def _value(text: str) -> object:
    """The value that a text writes down in JSON or in Python; the text itself if it does neither."""
    if text[:1] not in _LITERALS:
        return text
    if _is_cut(text):
        return _cut_value(text)
    try:
        found: object = read_json(text)
    except JsonError:
        try:
            found = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return _cut_value(text)
    return found if isinstance(found, (str, Mapping, list, tuple)) else text


def _is_cut(text: str) -> bool:
    """Whether a text ends as no value does. Most beginnings of long values do, and reading them fails slowly."""
    last = text.rstrip()[-1]
    return last != _ENDS[text[0]] and not (last in "'\"" and text[0] in "'\"") and "#" not in text


def _cut_value(text: str) -> object:
    """The texts of a value whose end is missing; the text itself if it is no such value."""
    if text[0] in "'\"":
        try:
            return ast.literal_eval(text.rstrip("\\") + text[0])
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return text
    if text[0] == "(" or not re.match(r"[\[{]\s*+[\"'\[{]", text):
        return text
    double = text.find('"')
    single = text.find("'")
    pattern = _STRING if single < 0 or 0 <= double < single else _QUOTED
    strings = [one[1] for one in pattern.finditer(text) if not one["key"]]
    found = [_unescaped(one) for one in strings]
    return [one for one in found if re.search(r"[^\W\d]", one)] or found or text


def _unescaped(text: str) -> str:
    r"""A text with ``\n`` and other escapes read."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _ESCAPES.get(found[2], found[2]), text)


def _unfenced(text: str) -> str:
    """The text inside the fence of a code block, as models write JSON."""
    fenced = _FENCE.fullmatch(text.strip())
    return fenced[1].strip() if fenced else text


def _longest(texts: Iterable[str]) -> str:
    found = list(texts)
    words = [one for one in found if len(one) > _SHORT or not _MARK.fullmatch(one)]
    return max(words or found, key=len, default="")


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return [text for one in inner for text in _texts(one)]
