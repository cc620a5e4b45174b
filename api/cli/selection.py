"""Which columns of a list are printed, and whether its JSON has an object a line, for every command that lists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from api.cli.errors import UsageError

COLUMNS = ("--columns", "--fields", "--select", "--column", "--field", "--cols")
LINES = "jsonl"
"""The format with a JSON object a line."""
_AS_LINES = {f"{before}{name}" for before in ("--", "--format=") for name in (LINES, "ndjson")}
_FORMATS = ("--format", "--json", "--csv", "--markdown", "--md", "--table", "--ids", "--count", "-f", "-j", "-q")


@dataclass(frozen=True, slots=True)
class Selection:
    """What a user chose.

    Attributes:
        columns: the names of the columns to print, in this order; empty for all.
        is_lines: whether JSON is printed with an object a line.
    """

    columns: tuple[str, ...] = ()
    is_lines: bool = False


_NAMES = re.compile(r"[A-Za-z]+(?:,[A-Za-z]+)+")
"""Names of columns as ``gh`` takes them behind ``--json``."""
EVERYTHING = Selection()
selection: ContextVar[Selection] = ContextVar("memtrace.selection", default=EVERYTHING)
"""The selection of the command that runs."""


def taken(words: Sequence[str]) -> tuple[list[str], Selection]:
    """The words without the selection, and the selection. Columns without a format are printed as CSV.

    Raises:
        UsageError: no column is named after ``--columns``.
    """
    rest: list[str] = []
    columns: list[str] = []
    is_lines = False
    left = list(words)
    while left:
        word = left.pop(0)
        name, _, value = word.partition("=")
        if word == "--":
            rest += [word, *left]
            break
        if word == "--json" and left and _NAMES.fullmatch(left[0]):
            columns += left.pop(0).split(",")
            rest.append(word)
        elif name in COLUMNS:
            value = value or (left.pop(0) if left and not left[0].startswith("-") else "")
            columns += [one.strip() for one in value.split(",") if one.strip()]
            if not columns:
                raise UsageError(f"{name} needs the names of columns: {name} id,question")
        elif word in _AS_LINES:
            is_lines = True
        elif word in {"--format", "-f"} and left[:1] and f"--{left[0]}" in _AS_LINES:
            del left[0]
            is_lines = True
        else:
            rest.append(word)
    said = any(one.startswith(_FORMATS) for one in rest)
    form = ["--json"] if is_lines else ["--csv"] if columns and not said else []
    return [*form, *rest], Selection(tuple(columns), is_lines)


def chosen_columns(known: Sequence[str]) -> Sequence[str]:
    """The chosen columns of a list; all columns without a choice.

    Raises:
        UsageError: the list has no column of a chosen name.
    """
    columns = selection.get().columns
    names = {one.casefold(): one for one in known}
    for one in columns:
        if one.casefold() not in names:
            near = get_close_matches(one.casefold(), names, 1)
            meant = f"did you mean {names[near[0]]}? " if near else ""
            raise UsageError(f"there is no column {one!r}: {meant}the columns are {', '.join(known)}")
    return [names[one.casefold()] for one in columns] or known


def chosen_members(documents: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The objects of a list with the chosen members only.

    Raises:
        UsageError: the objects have no member of a chosen name.
    """
    if not documents or not isinstance(documents[0], Mapping) or not selection.get().columns:
        return list(documents)
    columns = chosen_columns(list(documents[0]))
    return [{name: one.get(name) for name in columns} for one in documents]
