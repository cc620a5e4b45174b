"""Limits of the ready-made programs: how many memories an answer gets, and how long a reply of the model may be."""

from __future__ import annotations

import os

from memtrace.program.loading import ProgramError

TOP = "MEMTRACE_PROGRAM_TOP"
REPLY_TOKENS = "MEMTRACE_PROGRAM_REPLY_TOKENS"


def found_at_most(usual: int) -> int:
    """How many memories a search returns for an answer.

    Raises:
        ProgramError: the setting is no number of 1 or more.
    """
    return _number(TOP) or usual


def reply_tokens() -> int | None:
    """How many tokens a reply of the model may have; None for the server's own limit.

    Raises:
        ProgramError: the setting is no number of 1 or more.
    """
    return _number(REPLY_TOKENS)


def _number(setting: str) -> int | None:
    said = os.environ.get(setting, "").strip()
    if not said:
        return None
    if not said.isdecimal() or int(said) < 1:
        raise ProgramError(f"{setting} is {said!r}, but must be a number of 1 or more")
    return int(said)
