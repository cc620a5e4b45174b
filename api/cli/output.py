"""Writing to standard output: JSON for programs, text for people."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

from rich.console import Console, RenderableType
from rich.text import Text

_PIPED_WIDTH = 160


class Output(Console):
    """Rich without markup, because what it prints is untrusted. The caller handles a closed pipe."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, highlight=False, emoji=False)
        if not self.is_terminal and "COLUMNS" not in os.environ:
            self.width = _PIPED_WIDTH

    def on_broken_pipe(self) -> NoReturn:
        """Raise the error of a closed pipe, at which Rich would end the program."""
        raise BrokenPipeError

    def show(self, *renderables: RenderableType) -> None:
        """Print tables and the like; where nobody looks at a screen, without the blanks that fill their lines."""
        for renderable in renderables:
            if self.is_terminal:
                self.print(renderable)
                continue
            with self.capture() as captured:
                self.print(renderable)
            sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().removesuffix("\n").split("\n")))

    def lines(self, *lines: Text | str) -> None:
        """Print each on a line of its own, however long."""
        for line in lines:
            if self.is_terminal:
                self.print(line, soft_wrap=True)
            else:
                sys.stdout.write(f"{line}\n")


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
