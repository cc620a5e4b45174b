"""Recognises the names of error types as people type them."""

from __future__ import annotations

from difflib import get_close_matches

from schema.kinds import ErrorType

_ALIASES = {"judgeerror": ErrorType.JUDGE}
_SHOWN = 60


def error_type_meant(word: str) -> ErrorType:
    """The error type that a word names, in upper or lower case.

    Raises:
        ValueError: no error type has this name; the message names the nearest error type, and all error types.
    """
    known = {one.casefold(): one for one in ErrorType}
    folded = word.strip().casefold()
    found = known.get(folded) or _ALIASES.get(folded)
    if found is not None:
        return found
    near = get_close_matches(folded, known, n=1)
    hint = f" (did you mean {known[near[0]].value}?)" if near else ""
    shown = repr(word if len(word) <= _SHOWN else f"{word[:_SHOWN]}…")
    raise ValueError(f"{shown} is no error type{hint}; there are {', '.join(ErrorType)}")
