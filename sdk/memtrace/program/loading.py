"""Finds a program by ``module:name``."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


class ProgramError(Exception):
    """A program can't be run; the message says why."""


def load(name: str) -> Any:
    """Import the factory that ``module:name`` names; modules in the current folder are found too.

    Raises:
        ProgramError: the module or the name does not exist, or is no factory.
    """
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise ProgramError(f"{name!r} is no program: write module:name, such as my_agent.memory:Agent")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise ProgramError(f"{name}: there is no module {error.name} (searched from {Path.cwd()})") from None
        raise
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ProgramError(f"{name}: the module {module} has no {attribute}")
        found = getattr(found, part)
    if not callable(found):
        raise ProgramError(f"{name}: a program is a class, or a function that makes one, not a {type(found).__name__}")
    return found


def takes_time(answer: Any) -> bool:
    """Whether a program's method ``answer`` has an argument ``time``, for the time of the question."""
    try:
        taken = inspect.signature(answer).parameters.values()
    except (TypeError, ValueError):
        return False
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return any(
        one.kind is inspect.Parameter.VAR_KEYWORD or (one.name == "time" and one.kind in by_name) for one in taken
    )
