"""What people can be called: whoever records a verdict is a person, whichever key they use."""

from __future__ import annotations

from schema.errors import InputError
from schema.kinds import HUMAN_METHOD

MAX_NAME = 200
_METHODS = frozenset({HUMAN_METHOD, "flow", "llm", "auto", "oneshot"})
"""The names of methods: verdicts are looked up by author and by method alike, so no person may have one."""


def check_person(name: str, source: str, place: str) -> None:
    """Refuse what can't be a person's name.

    Args:
        name: what somebody is to be called.
        source: what the error says is wrong, such as ``key``.
        place: where in it.

    Raises:
        InputError: nobody can be called so.
    """
    if not 1 <= len(name) <= MAX_NAME:
        raise InputError(source, place, f"a name of 1 to {MAX_NAME} characters is needed")
    if name != name.strip() or not name.isprintable():
        raise InputError(source, place, f"{name!r} begins or ends with a space, or has what can't be printed")
    if name in _METHODS:
        raise InputError(source, place, f"{name!r} is a method, not a person")
