"""Mistakes of the application in what it says to the recorder: where they are, and what was meant."""

from __future__ import annotations

import sys
from collections.abc import Iterable

_NOT_THE_APPLICATION = {"memtrace", "asyncio", "concurrent", "contextlib", "functools", "threading", "weakref"}
_SHOWN_CHARACTERS = 80
_SHOWN_OF_VALUES = 40
_MASKED_CHARACTERS = 4_000


class MistakeError(ValueError):
    """Something that the application says can't be; the message holds no more of its values than ``shown``."""


def place() -> str:
    """The line of the application that has called the recorder, as ``file:line``; empty in the recorder's thread."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_APPLICATION:
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def shown(value: object) -> str:
    """What a value is, for a log: its type, and of a text the length and its beginning, masked."""
    if not isinstance(value, str):
        return f"<{type(value).__qualname__}>"
    from memtrace.redact import EVERYTHING

    text: str = value[:_MASKED_CHARACTERS]
    for mask in EVERYTHING:
        text = mask(text)
    start = text if len(text) <= _SHOWN_OF_VALUES else f"{text[:_SHOWN_OF_VALUES]}…"
    return f"{start!r} (a text of {len(value)} characters)"


def meant(what: str, kind: str, kinds: Iterable[str]) -> str:
    """The kind that a word means: in any case, with or without spaces, hyphens and underscores.

    Args:
        what: what it is a kind of, for the message.
        kind: the word.
        kinds: all that there are.

    Raises:
        MistakeError: It is none of them; the message names the nearest kind.
    """
    by_letters = {_letters(known): str(known) for known in kinds}
    letters = _letters(str(kind))
    found = by_letters.get(letters)
    if found is not None:
        return found
    from difflib import get_close_matches

    near = get_close_matches(letters, by_letters, n=1)
    hint = f" (did you mean {by_letters[near[0]]!r}?)" if near else ""
    word = repr(kind)[:_SHOWN_CHARACTERS]
    known = ", ".join(by_letters.values())
    raise MistakeError(f"{word} is no kind of {what}{hint} and counts as 'Other'; there are {known}")


def _letters(kind: str) -> str:
    return "".join(kind.split()).replace("_", "").replace("-", "").casefold()
