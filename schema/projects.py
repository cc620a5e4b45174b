"""The rules for names of projects, which stand in addresses, paths, logs and settings of other programs."""

from __future__ import annotations

import re

from schema.errors import InputError

MAX_CHARACTERS = 128
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
FORM = f"write letters of ASCII, digits, . _ and -, not . or - first, {MAX_CHARACTERS} characters at most"


def problem_of_name(name: str) -> str | None:
    """Why a project can't have this name; None if the name is allowed."""
    if len(name) <= MAX_CHARACTERS and _NAME.fullmatch(name):
        return None
    shown = ascii(name if len(name) <= MAX_CHARACTERS else name[:MAX_CHARACTERS] + "...")
    return f"{shown} can't be the name of a project: {FORM}"


def check_project(name: str, source: str = "project") -> str:
    """Check the name of a project, and return the name.

    Args:
        name: the name.
        source: for the error, where the name comes from.

    Raises:
        InputError: no project can have this name.
    """
    problem = problem_of_name(name)
    if problem is not None:
        raise InputError(source, "", problem)
    return name
