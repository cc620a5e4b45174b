"""The names of error types for people, and how typed names are recognised."""

from __future__ import annotations

from difflib import get_close_matches

from schema.kinds import ErrorType

_NAMES: dict[str, str] = {ErrorType.JUDGE: "Judge error"}
"""The names that don't follow from the word for programs."""
_SHOWN = 60


def error_type_name(word: str | None) -> str:
    """An error type for people: ``Retrieval error`` for ``RetrievalError``. None is an abstention: ``Not decided``."""
    if word is None:
        return "Not decided"
    return _NAMES.get(word) or (f"{word.removesuffix('Error')} error" if word.endswith("Error") else word)


def error_type_meant(word: str) -> ErrorType:
    """The error type that somebody typed as the word for programs or as ``error_type_name``, in upper or lower case.

    Raises:
        ValueError: no error type has this name; the message names the nearest error type, and all error types.
    """
    known = {one.casefold(): one for one in ErrorType}
    folded = _folded(word)
    found = known.get(folded) or next((one for one in ErrorType if folded == _folded(error_type_name(one))), None)
    if found is not None:
        return found
    near = get_close_matches(folded, known, n=1)
    hint = f" (did you mean {known[near[0]].value}?)" if near else ""
    shown = repr(word if len(word) <= _SHOWN else f"{word[:_SHOWN]}…")
    raise ValueError(f"{shown} is no error type{hint}; there are {', '.join(ErrorType)}")


def _folded(word: str) -> str:
    return "".join(word.split()).casefold()
