"""Mistakes of the application in what it says to the recorder: where they are, and what was meant."""

from __future__ import annotations

import sys
from collections.abc import Iterable

_NOT_THE_APPLICATION = {"memtrace", "asyncio", "concurrent", "contextlib", "functools", "threading", "weakref"}
_SHOWN_CHARACTERS = 80


def place() -> str:
    """The line of the application that has called the recorder, as ``file:line``; empty in the recorder's thread."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_APPLICATION:
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def meant(what: str, kind: str, kinds: Iterable[str]) -> str:
    """The kind that a word means: in any case, with or without spaces, hyphens and underscores.

    Args:
        what: what it is a kind of, for the message.
        kind: the word.
        kinds: all that there are.

    Raises:
        ValueError: It is none of them; the message names the line of the application and the nearest kind.
    """
    by_letters = {_letters(known): str(known) for known in kinds}
    letters = _letters(str(kind))
    found = by_letters.get(letters)
    if found is not None:
        return found
    from difflib import get_close_matches

    near = get_close_matches(letters, by_letters, n=1)
    hint = f" (did you mean {by_letters[near[0]]!r}?)" if near else ""
    shown = repr(kind)[:_SHOWN_CHARACTERS]
    raise ValueError(f"{place()}: {shown} is no kind of {what}{hint}; there are {', '.join(by_letters.values())}")


def _letters(kind: str) -> str:
    return "".join(kind.split()).replace("_", "").replace("-", "").casefold()
