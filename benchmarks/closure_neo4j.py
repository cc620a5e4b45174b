"""How long a whole closure takes in Neo4j, beside one plain Cypher query that returns the same, a row an item."""

from __future__ import annotations

from typing import Any

import neo4j

from benchmarks.context import Context, UnavailableError, say
from benchmarks.generated import PROJECT, fill, layout_key
from benchmarks.generator import answer_of, trace_of
from benchmarks.neo4j_server import Server, ServerError
from benchmarks.queries import query
from benchmarks.report import Section, Table, at_most, milliseconds, raw, spread, times
from benchmarks.timing import alternate, ratio, timed
from store.open import open_database
from store.protocol import Closure, GraphStore

_MOST_RATIO = 0.4
_RUNS = 9
_WARM_UPS = 5
_OURS, _BARE, _IDS = "store.closure", "plain Cypher, a row an item", "plain Cypher, ids in one row"


async def run(context: Context) -> Section:
    """Ask for the causal past of the answers of some traces."""
    section = Section("Closure in Neo4j")
    try:
        server = await context.server.get(layout_key("neo4j"))
    except ServerError as error:
        raise UnavailableError(f"no Neo4j can be had: {error}") from error
    shape = context.shape
    project = f"{PROJECT}-{shape.traces}x{shape.variables}"
    with context.scratch() as folder:
        async with await open_database(server.uri, (folder / "values").as_uri(), server.credentials) as database:
            store = database.project(project)
            try:
                await fill(store, shape)
                say("closure in Neo4j")
                async with _driver(server) as driver:
                    await _measure(context, store, driver, section)
            finally:
                if not server.ours:
                    await _remove(store, shape.traces)
    section.notes.append(
        f"Store of {shape}; Neo4j {server.version}, driver {neo4j.__version__}. Each run asks for the answer of another "
        "trace, once to warm up and then for the figure, both through the asynchronous driver in a read transaction. "
        "`store.closure` also gives the operations, the plain query does not. The plain query and the store are "
        "checked to have the same variables and derivations."
    )
    return section


def _driver(server: Server) -> neo4j.AsyncDriver:
    auth = (server.credentials.user, server.credentials.password)
    return neo4j.AsyncGraphDatabase.driver(server.uri, auth=auth, notifications_min_severity="OFF")


async def _measure(context: Context, store: GraphStore, driver: neo4j.AsyncDriver, section: Section) -> None:
    shape, runs = context.shape, max(context.runs, 1 if context.quick else _RUNS)
    step = max(1, shape.traces // runs)

    def root(run: int) -> str:
        return answer_of(store.project_id, shape, run * step % shape.traces)

    async def execute(name: str, id_: str) -> list[Any]:
        async def work(transaction: neo4j.AsyncManagedTransaction) -> list[Any]:
            return await (await transaction.run(query(name), id=id_)).values()

        async with driver.session() as session:
            return await session.execute_read(work)

    async def ours(run: int) -> float:
        await store.closure([root(run)])
        return (await timed(store.closure([root(run)])))[0]

    async def whole(run: int) -> float:
        await execute("closure.cypher", root(run))
        return (await timed(execute("closure.cypher", root(run))))[0]

    async def ids(run: int) -> float:
        await execute("closure_ids.cypher", root(run))
        return (await timed(execute("closure_ids.cypher", root(run))))[0]

    closure = await store.closure([root(0)])
    _compare(closure, await execute("closure.cypher", root(0)))
    found = await alternate(runs, {_OURS: ours, _BARE: whole, _IDS: ids}, warm_ups=1 if context.quick else _WARM_UPS)
    to_bare = ratio(found[_OURS], found[_BARE])
    table = Table(("what", "variables", "derivations", f"median of {runs} (least – most)", f"{_OURS} to it"))
    counts = f"{len(closure.variables):,}", f"{len(closure.derivations):,}"
    table.add(_OURS, *counts, spread(found[_OURS], milliseconds), "")
    table.add(_BARE, *counts, spread(found[_BARE], milliseconds), spread(to_bare, times))
    table.add(_IDS, counts[0], "–", spread(found[_IDS], milliseconds), spread(ratio(found[_OURS], found[_IDS]), times))
    section.tables.append(table)
    section.numbers["seconds"] = raw(found)
    section.goals.append(at_most("closure in Neo4j to a plain query, a row an item", _MOST_RATIO, to_bare.value, times))


def _compare(closure: Closure, rows: list[Any]) -> None:
    bare = sorted(item["id"] for item, _, _ in rows)
    ours = [d.id for d in closure.derivations] + [v.id for v in closure.variables]
    if bare != sorted(ours):
        raise RuntimeError("the store and the plain query do not return the same variables and derivations")


async def _remove(store: GraphStore, traces: int) -> None:
    """A server that is not ours is left as it was."""
    say("deleting the made store from the server")
    listed = {trace.id for trace in (await store.traces(first=traces)).items}
    for number in range(traces):
        if (trace := trace_of(store.project_id, number)) in listed:
            await store.delete_trace(trace)
