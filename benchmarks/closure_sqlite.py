"""How long a whole closure takes in SQLite, beside one bare recursive query that returns the same as tuples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from benchmarks.closure import Ask, Peers, compare
from benchmarks.context import Context, say
from benchmarks.generated import PROJECT, sqlite_file
from benchmarks.queries import query
from benchmarks.report import Section, at_most, times
from store.open import open_database
from store.sqlite.connections import Connections

_MOST_RATIO = 1.5


async def run(context: Context) -> Section:
    """Measure in the made store, which is made first where the cache does not have it."""
    section = Section("Closure in SQLite")
    path = await sqlite_file(context)
    say("closure in SQLite")
    connections = Connections(path)
    peers = Peers(
        "bare recursive query, the same as tuples",
        _asking(connections, "closure.sql"),
        lambda rows: [row[1].hex() for row in rows],
        {"bare recursive query, ids of the variables only": _asking(connections, "closure_ids.sql")},
        warm_ups=1,
    )
    try:
        async with await open_database(f"sqlite:///{path}") as database:
            found = await compare(context, database.project(PROJECT), peers, section)
    finally:
        await connections.close()
    size = section.numbers["fileBytes"] = _size(path)
    section.notes.append(
        f"Store of {context.shape}, {size / 1e9:.2f} GB; SQLite {apsw.sqlite_lib_version()}; one connection each, with "
        "the same settings."
    )
    section.goals.append(at_most("closure in SQLite to the bare recursive query", _MOST_RATIO, found.value, times))
    return section


def _asking(connections: Connections, name: str) -> Ask:
    async def ask(id_: str) -> list[Any]:
        return await connections.read(lambda connection: connection.execute(query(name), {"id": id_}).fetchall())

    return ask


def _size(path: Path) -> int:
    return path.stat().st_size
