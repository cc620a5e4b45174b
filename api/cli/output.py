"""Writing to standard output: JSON for programs, text for people."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

from rich.console import Console

_PIPED_WIDTH = 160


class Output(Console):
    """Rich without markup, for what it prints is untrusted. A closed pipe is the caller's to handle."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, highlight=False, emoji=False)
        if not self.is_terminal and "COLUMNS" not in os.environ:
            self.width = _PIPED_WIDTH

    def on_broken_pipe(self) -> NoReturn:
        """Let the error go on, with which Rich would leave the program."""
        raise

    def lines(self, *renderables: Any) -> None:
        """Print each on a line of its own, however long."""
        for renderable in renderables:
            self.print(renderable, soft_wrap=True)


def print_json(document: Any) -> None:
    """One JSON document on standard output; indented where people read it."""
    import msgspec

    data = msgspec.json.encode(document)
    if sys.stdout.isatty():
        data = msgspec.json.format(data, indent=2)
    write_bytes(data + b"\n")


def write_bytes(data: bytes) -> None:
    """Bytes on standard output, as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
