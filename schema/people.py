"""The rules for names of people, who are the authors of human verdicts."""

from __future__ import annotations

from schema.errors import InputError
from schema.kinds import HUMAN_METHOD

MAX_NAME = 200
_METHODS = frozenset({HUMAN_METHOD, "flow", "walk", "llm", "auto", "oneshot"})
"""The names of methods. Verdicts are looked up by author or by method, so no person may have the name of a method."""


def check_person(name: str, source: str, place: str) -> None:
    """Check the name of a person.

    Args:
        name: 1 to ``MAX_NAME`` printable characters without spaces around, not the name of a method.
        source: for the error, the input with the name, such as ``key``.
        place: for the error, the place in the source.

    Raises:
        InputError: the name breaks a rule.
    """
    if not 1 <= len(name) <= MAX_NAME:
        raise InputError(source, place, f"a name of 1 to {MAX_NAME} characters is needed")
    if name != name.strip() or not name.isprintable():
        raise InputError(source, place, f"{name!r} begins or ends with a space, or has what can't be printed")
    if name in _METHODS:
        raise InputError(source, place, f"{name!r} is a method, not a person")
