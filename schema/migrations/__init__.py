"""Numbered changes to the layout of a store, as files: a folder for each layout."""

from __future__ import annotations

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

    Statements end with ``;`` and a new line.
    """
    found = []
    for entry in files(__name__).joinpath(layout).iterdir():
        number, separator, name = entry.name.rpartition(".")[0].partition("_")
        if separator and number.isdigit():
            statements = tuple(part.strip() for part in entry.read_text("utf-8").split(";\n") if part.strip())
            found.append(Migration(int(number), name, statements))
    return tuple(sorted(found, key=lambda migration: migration.number))
