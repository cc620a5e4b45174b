"""Exit codes, and what is said on standard error when a command can't do its work."""

from __future__ import annotations

import sys
from enum import IntEnum

from api.cli.render.text import one_line
from schema.errors import AmbiguousError, ConflictError, InputError, MemTraceError, NotFoundError, StoreError


class ExitCode(IntEnum):
    """How a command ended; the numbers are public."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    BAD_INPUT = 4
    STORE = 5
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class UsageError(MemTraceError):
    """The command was asked for something that its options can't mean."""


_CODES: tuple[tuple[type[MemTraceError], ExitCode], ...] = (
    (UsageError, ExitCode.USAGE),
    (AmbiguousError, ExitCode.USAGE),
    (NotFoundError, ExitCode.NOT_FOUND),
    (InputError, ExitCode.BAD_INPUT),
    (ConflictError, ExitCode.BAD_INPUT),
    (StoreError, ExitCode.STORE),
)


def exit_code(error: MemTraceError) -> ExitCode:
    """The exit code that an expected error leads to."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), ExitCode.FAILED)


def complain(message: str) -> None:
    """Say what is wrong, on one line of standard error. It may quote input, so it is made harmless."""
    sys.stderr.write(f"error: {one_line(message)}\n")


def note(message: str) -> None:
    """Tell the user something on standard error."""
    sys.stderr.write(f"{one_line(message)}\n")
