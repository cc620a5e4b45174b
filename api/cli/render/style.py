"""Colours, and the parts of lines and tables."""

from __future__ import annotations

from datetime import datetime

from rich.text import Text

from api.cli.render.text import label_of, one_line, operation_name, short
from schema.models import Operation, Variable

DIM = "dim"
ID = "cyan"
GOOD = "green"
BAD = "bold red"
KINDS = {
    "Message": "green",
    "Query": "magenta",
    "RefinedQuery": "magenta",
    "MemoryUnit": "yellow",
    "Buffer": "yellow",
    "RetrievalResult": "blue",
    "Context": "blue",
    "Answer": "bold red",
    "GoldAnswer": "bold green",
    "Judgement": "red",
    "Score": "red",
}


def kind(word: str) -> Text:
    """A kind in its colour."""
    return Text(word, style=KINDS.get(word, ""))


def id_(whole: str) -> Text:
    """A short id."""
    return Text(short(whole), style=ID)


def moment(when: datetime | None) -> Text:
    """A time in UTC, to the second."""
    return Text(f"{when:%Y-%m-%d %H:%M:%S}" if when else "", style=DIM)


def quoted(text: str, width: int) -> Text:
    """A text in quotes, at most ``width`` columns wide."""
    inside = Text(one_line(text, width - 2))
    inside.truncate(width - 2, overflow="ellipsis")
    return Text("“").append_text(inside).append("”")


def variable_label(variable: Variable) -> Text:
    """Kind, short id, and the name if people gave one."""
    label = Text(" ").join((kind(variable.kind.value), id_(variable.id)))
    name = label_of(variable)
    return label.append(" ").append(name, style="bold") if name else label


def operation_label(operation: Operation) -> Text:
    """Name and kind of an operation."""
    named = Text(operation_name(operation))
    if operation.kind.value.casefold() not in named.plain.casefold():
        named.append(f" ({operation.kind.value})", style=DIM)
    return named
