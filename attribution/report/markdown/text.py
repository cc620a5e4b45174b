"""Untrusted texts and tables in Markdown: quoted texts are escaped and put on one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from attribution.text.fit import printable

_ACTIVE = re.compile(r"[\\`*_{}\[\]<>|~&#$]|(?<=:)//|(?<=www)\.|@")
_BACKTICKS = re.compile("`+")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}

Row = Sequence[str]


def escape(text: str) -> str:
    """The text on one line, escaped for Markdown."""
    line = " ".join(printable(text).split())
    return _ACTIVE.sub(lambda found: _ENTITIES.get(found[0]) or f"\\{found[0]}", line)


def fenced(kind: str, lines: Sequence[str]) -> Iterator[str]:
    """A block of literal lines, without unprintable characters."""
    shown = [printable(line) for line in lines]
    # The fence is longer than any run of backticks in the lines, so that no line can end the block.
    fence = "`" * max(3, *(len(row) + 1 for line in shown for row in _BACKTICKS.findall(line)), 3)
    yield from (f"{fence}{kind}", *shown, fence, "")


def table(columns: Row, rows: Iterable[Row]) -> Iterator[str]:
    """A table with a heading for each column."""
    for row in (columns, ["---"] * len(columns), *rows):
        yield f"| {' | '.join(row)} |"
    yield ""
