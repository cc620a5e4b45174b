"""Exit codes, and messages on standard error."""

from __future__ import annotations

import sys
from enum import IntEnum

from api.cli.render.text import one_line
from schema.errors import AmbiguousError, ConflictError, InputError, MemTraceError, NotFoundError, StoreError


class ExitCode(IntEnum):
    """The exit codes of commands; the numbers are public."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    BAD_INPUT = 4
    STORE = 5
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class UsageError(MemTraceError):
    """The options contradict each other, or one is missing."""


_CODES: tuple[tuple[type[MemTraceError], ExitCode], ...] = (
    (UsageError, ExitCode.USAGE),
    (AmbiguousError, ExitCode.USAGE),
    (NotFoundError, ExitCode.NOT_FOUND),
    (InputError, ExitCode.BAD_INPUT),
    (ConflictError, ExitCode.BAD_INPUT),
    (StoreError, ExitCode.STORE),
)


def exit_code(error: MemTraceError) -> ExitCode:
    """The exit code of an expected error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), ExitCode.FAILED)


def complain(message: str) -> None:
    """Print an error on one line of standard error. Control characters in it are escaped."""
    sys.stderr.write(f"error: {one_line(message)}\n")


def note(message: str) -> None:
    """Print a message for the user on standard error."""
    sys.stderr.write(f"{one_line(message)}\n")
