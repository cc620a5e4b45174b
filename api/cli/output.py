"""Standard output: JSON for programs, text for people."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

from rich.console import Console, RenderableType
from rich.text import Text

_PIPED_WIDTH = 160


class Output(Console):
    """Rich without markup, because the printed texts are untrusted. The caller handles a closed pipe."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, highlight=False, emoji=False)
        if not self.is_terminal and "COLUMNS" not in os.environ:
            self.width = _PIPED_WIDTH

    def on_broken_pipe(self) -> NoReturn:
        """Raise the error of a closed pipe; Rich would end the program."""
        raise BrokenPipeError

    def show(self, *renderables: RenderableType) -> None:
        """Print tables and the like. Without a terminal, lines end without blanks."""
        for renderable in renderables:
            if self.is_terminal:
                self.print(renderable)
                continue
            with self.capture() as captured:
                self.print(renderable)
            sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().removesuffix("\n").split("\n")))

    def lines(self, *lines: Text | str) -> None:
        """Print each text on a line of its own, however long it is."""
        for line in lines:
            if self.is_terminal:
                self.print(line, soft_wrap=True)
            else:
                sys.stdout.write(f"{line}\n")


def print_json(document: Any) -> None:
    """Print one JSON document on standard output, indented for a terminal; of a list, what ``selection`` says."""
    import msgspec

    from api.cli.selection import chosen_members, selection

    if isinstance(document, list):
        document = chosen_members(document)
        if selection.get().is_lines:
            write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in document))
            return
    data = msgspec.json.encode(document)
    if sys.stdout.isatty():
        data = msgspec.json.format(data, indent=2)
    write_bytes(data + b"\n")


def write_bytes(data: bytes) -> None:
    """Write bytes to standard output, unchanged."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
