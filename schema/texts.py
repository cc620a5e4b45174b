"""Texts of queries: files under ``schema/cypher`` and ``schema/sql``, loaded by name and never built from input."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@cache
def cypher(name: str) -> str:
    """The Cypher text ``schema/cypher/<name>.cypher``."""
    return _read("cypher", f"{name}.cypher")


@cache
def sql(name: str) -> str:
    """The SQL text ``schema/sql/<name>.sql``."""
    return _read("sql", f"{name}.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered change of a store's layout: ``schema/migrations/<engine>/<number>_<name>``."""

    number: int
    name: str
    statements: tuple[str, ...]


@cache
def migrations(layout: str) -> tuple[Migration, ...]:
    """All migrations of a layout (``sqlite``, ``neo4j``, ``journal``), in order.

    Statements end with ``;`` and a new line.
    """
    found = []
    for entry in files("schema").joinpath("migrations", layout).iterdir():
        number, separator, name = entry.name.rpartition(".")[0].partition("_")
        if separator and number.isdigit():
            statements = tuple(part.strip() for part in entry.read_text("utf-8").split(";\n") if part.strip())
            found.append(Migration(int(number), name, statements))
    return tuple(sorted(found, key=lambda migration: migration.number))


def _read(folder: str, name: str) -> str:
    return files("schema").joinpath(folder, name).read_text("utf-8")
