"""Exit codes, and messages on standard error."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from enum import IntEnum

from api.cli.render.text import one_line, short
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


_WORDS = re.compile(r"[^\W\d_]+([\s'-]+[^\W\d_]+)*[?.!]?")
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


def with_each(error: AmbiguousError, words: Sequence[str]) -> list[str]:
    """The command line, once with each thing that an ambiguous reference may mean; empty if no word is the reference.

    Args:
        error: with the candidates.
        words: the words of the command line.
    """
    if error.reference not in words:
        return []
    lines = []
    for one in error.described:
        # The beginning of an id that fits several things is no better for being the same again.
        id_ = one.id if one.id.startswith(error.reference) else short(one.id)
        place = "" if one.trace_id == one.id else f" of trace {short(one.trace_id)}"
        line = shlex.join(["memtrace", *(id_ if word == error.reference else word for word in words)])
        lines.append(f"{line}  # {one.label.lower()}{f' {one.name}' if one.name else ''}{place}")
    return lines


def by_words(error: MemTraceError, words: Sequence[str]) -> str:
    """How to search for words that name nothing; empty for other errors, and for words that look like an id.

    Args:
        error: the error.
        words: the words of the command line.
    """
    reference = getattr(error, "reference", "") if isinstance(error, NotFoundError) else ""
    if reference not in words[1:] or not _WORDS.fullmatch(reference) or words[0] == "search":
        return ""
    return f". By its words: {shlex.join(['memtrace', 'search', reference])}"


def complain(message: str) -> None:
    """Print an error on one line of standard error. Control characters in it are escaped."""
    sys.stderr.write(f"error: {one_line(message)}\n")


def note(message: str) -> None:
    """Print a message for the user on standard error."""
    sys.stderr.write(f"{one_line(message)}\n")
