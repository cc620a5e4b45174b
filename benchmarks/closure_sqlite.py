"""How long a whole closure takes in SQLite, beside one bare recursive query that returns the same as tuples."""

from __future__ import annotations

from typing import Any

import apsw

from benchmarks.context import Context, say
from benchmarks.generated import PROJECT, sqlite_file
from benchmarks.generator import answer_of
from benchmarks.queries import query
from benchmarks.report import Section, Table, at_most, milliseconds, raw, spread, times
from benchmarks.timing import alternate, ratio, timed
from store.open import open_database
from store.protocol import Closure, GraphStore
from store.sqlite.connections import Connections

_MOST_RATIO = 1.5
_RUNS = 9
_OURS, _BARE, _IDS = "store.closure", "bare recursive query, the same as tuples", "bare recursive query, ids only"


async def run(context: Context) -> Section:
    """Ask for the causal past of the answers of some traces."""
    section = Section("Closure in SQLite")
    path = await sqlite_file(context)
    bare = Connections(path)
    say("closure in SQLite")
    try:
        async with await open_database(f"sqlite:///{path}") as database:
            await _measure(context, database.project(PROJECT), bare, section)
    finally:
        await bare.close()
    section.numbers["fileBytes"] = path.stat().st_size
    section.notes.append(
        f"Store of {context.shape}, {path.stat().st_size / 1e9:.2f} GB; SQLite {apsw.sqlite_lib_version()}. Each run "
        "asks for the answer of another trace, once to warm up and then for the figure; all connections have the same "
        "settings. `store.closure` also gives the operations, the bare query does not. The bare query and the store "
        "are checked to have the same variables and derivations."
    )
    return section


async def _measure(context: Context, store: GraphStore, bare: Connections, section: Section) -> None:
    shape, runs = context.shape, max(context.runs, 1 if context.quick else _RUNS)
    step = max(1, shape.traces // runs)

    def root(run: int) -> str:
        return answer_of(PROJECT, shape, run * step % shape.traces)

    async def execute(name: str, id_: str) -> list[Any]:
        return await bare.read(lambda connection: connection.execute(query(name), {"id": id_}).fetchall())

    async def ours(run: int) -> float:
        await store.closure([root(run)])
        return (await timed(store.closure([root(run)])))[0]

    async def whole(run: int) -> float:
        await execute("closure.sql", root(run))
        return (await timed(execute("closure.sql", root(run))))[0]

    async def ids(run: int) -> float:
        await execute("closure_ids.sql", root(run))
        return (await timed(execute("closure_ids.sql", root(run))))[0]

    closure = await store.closure([root(0)])
    _compare(closure, await execute("closure.sql", root(0)))
    found = await alternate(runs, {_OURS: ours, _BARE: whole, _IDS: ids}, warm_ups=1)
    to_bare = ratio(found[_OURS], found[_BARE])
    table = Table(("what", "variables", "derivations", f"median of {runs} (least – most)", f"{_OURS} to it"))
    counts = f"{len(closure.variables):,}", f"{len(closure.derivations):,}"
    table.add(_OURS, *counts, spread(found[_OURS], milliseconds), "")
    table.add(_BARE, *counts, spread(found[_BARE], milliseconds), spread(to_bare, times))
    table.add(_IDS, counts[0], "–", spread(found[_IDS], milliseconds), spread(ratio(found[_OURS], found[_IDS]), times))
    section.tables.append(table)
    section.numbers["seconds"] = raw(found)
    section.goals.append(
        at_most("closure in SQLite to the bare recursive query", _MOST_RATIO, to_bare.value, times),
    )


def _compare(closure: Closure, rows: list[Any]) -> None:
    bare = sorted((row[0], row[1].hex()) for row in rows)
    ours = [("derivation", d.id) for d in closure.derivations] + [("variable", v.id) for v in closure.variables]
    if bare != sorted(ours):
        raise RuntimeError("the store and the bare query do not return the same variables and derivations")
