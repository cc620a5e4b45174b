"""Standard output and standard error: closed, full, or no longer read."""

from __future__ import annotations

import errno
import os
import sys

_REFUSED = {errno.EBADF, errno.ENOSPC, errno.EDQUOT, errno.EIO}


def open_streams() -> None:
    """Put a stream that can't be written in the place of a standard stream that is closed.

    Otherwise the next file that is opened would get the stream's number, and be written to.
    """
    for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            # Readable only, so that a write is an error; but messages may be lost.
            opened = os.open(os.devnull, os.O_RDONLY if number < 2 else os.O_WRONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def problem_of_output(error: Exception) -> str | None:
    """What to say if an error comes from standard output; None for other errors."""
    if not isinstance(error, OSError) or error.filename is not None or error.errno not in _REFUSED:
        return None
    if error.errno == errno.EBADF:
        return "standard output is closed: there is nowhere to write the result"
    return f"standard output can't be written: {error.strerror}"


def drop_output() -> None:
    """Forget what is not yet written: the rest of the buffer must not raise an error at the end of the program."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
