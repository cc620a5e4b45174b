"""Numbered changes to the layout of a store, as files: a folder for each layout.

The first file of a folder makes the whole layout of an empty store. Its number is that of the last change before the
first release; stores with older layouts are refused (``too_old``).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Migration:
    """One change of a layout: ``schema/migrations/<layout>/<number>_<name>``."""

    number: int
    name: str
    statements: tuple[str, ...]


@cache
def migrations(layout: str) -> tuple[Migration, ...]:
    """All migrations of a layout (``sqlite``, ``neo4j``, ``journal``), in order.

    In a file, each statement ends with ``;`` and a new line.
    """
    found = []
    for entry in files(__name__).joinpath(layout).iterdir():
        number, separator, name = entry.name.rpartition(".")[0].partition("_")
        if separator and number.isdigit():
            statements = tuple(part.strip() for part in entry.read_text("utf-8").split(";\n") if part.strip())
            found.append(Migration(int(number), name, statements))
    return tuple(sorted(found, key=lambda migration: migration.number))


def too_old(layout: str, applied: Collection[int]) -> str | None:
    """Why a store with these applied migrations can't be brought up to date, and what to do; None if it can."""
    number = max(applied, default=0)
    if number == 0 or number >= migrations(layout)[0].number:
        return None
    way_out = (
        "run a worker of the version that wrote it until nothing waits, then delete the file"
        if layout == "journal"
        else "export its traces with the version that wrote it (`memtrace export`) and import them into a new store"
    )
    return f"layout {number} is from before MemTrace 0.1.0 and can't be brought up to date: {way_out}"
