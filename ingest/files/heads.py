"""Examines the first bytes ("head") of a file to recognise its format."""

from __future__ import annotations

import json
import re

_SCANNER = json.JSONDecoder()
_SPACE = re.compile(r"\s*")


def first_keys(head: bytes) -> list[str]:
    """The keys of the JSON object at the beginning of a file, as far as the head shows them; else an empty list.

    The last key's value may be cut off.
    """
    text = head.decode("utf-8", "ignore")
    place = _after_space(text, 0)
    keys: list[str] = []
    opening = "{"
    while text.startswith(opening, place):
        try:
            key, place = _SCANNER.raw_decode(text, _after_space(text, place + 1))
            place = _after_space(text, place)
            if not isinstance(key, str) or not text.startswith(":", place):
                break
            keys.append(key)
            _, place = _SCANNER.raw_decode(text, _after_space(text, place + 1))
        except (ValueError, RecursionError):
            break
        place = _after_space(text, place)
        opening = ","
    return keys


def fault(head: bytes) -> tuple[str, str] | None:
    """Position and reason of a JSON error in the head; None if the file may be JSON."""
    text = head.decode("utf-8", "replace")
    try:
        _SCANNER.raw_decode(text, _after_space(text, 0))
    except json.JSONDecodeError as error:
        # The head may end inside a string, which is no fault: the error's position is then the string's beginning.
        is_cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        return None if is_cut else (f"line {error.lineno}, column {error.colno}", f"is not JSON ({error.msg})")
    except RecursionError:
        return "", "is nested too deeply"
    return None


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()
