"""Messages about wrong calls of the recorder: the line of the application, and the word that was probably meant."""

from __future__ import annotations

import sys
from collections.abc import Iterable

_NOT_THE_APPLICATION = {"memtrace", "asyncio", "concurrent", "contextlib", "functools", "threading", "weakref"}
_SHOWN_CHARACTERS = 80
_SHOWN_OF_VALUES = 40
_MASKED_CHARACTERS = 4_000


class MistakeError(ValueError):
    """The application passed a wrong argument; the message shows values only as ``shown`` does."""


def place() -> str:
    """The line of the application that called the recorder, as ``file:line``; empty in the recorder's own thread."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_APPLICATION:
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def shown(value: object) -> str:
    """A value for a log: the type; of a text the length and the masked beginning."""
    if not isinstance(value, str):
        return f"<{type(value).__qualname__}>"
    from memtrace.redact import EVERYTHING

    text: str = value[:_MASKED_CHARACTERS]
    for mask in EVERYTHING:
        text = mask(text)
    start = text if len(text) <= _SHOWN_OF_VALUES else f"{text[:_SHOWN_OF_VALUES]}…"
    return f"{start!r} (a text of {len(value)} characters)"


def meant(what: str, kind: str, kinds: Iterable[str], consequence: str = "") -> str:
    """The kind that a word means. Case, spaces, hyphens and underscores do not matter.

    Args:
        what: the sort of kind, for the message, such as ``kind of variable``.
        kind: the word.
        kinds: all kinds that exist.
        consequence: how the recorder treats an unknown word, for the message.

    Raises:
        MistakeError: No kind has this name; the message names the nearest kind.
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
    raise MistakeError(f"{word} is no {what}{hint}{consequence}; there are {known}")


def _letters(kind: str) -> str:
    return "".join(kind.split()).replace("_", "").replace("-", "").casefold()
