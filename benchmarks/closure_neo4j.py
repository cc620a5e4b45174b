"""How long a whole closure takes in Neo4j, beside one plain Cypher query that returns the same, a row an item."""

from __future__ import annotations

from typing import Any

import neo4j

from benchmarks.closure import Ask, Peers, compare
from benchmarks.context import Context, say
from benchmarks.generated import PROJECT, fill, layout_key
from benchmarks.generator import trace_of
from benchmarks.neo4j_server import Server, ServerError
from benchmarks.queries import query
from benchmarks.report import Section, at_most, times
from benchmarks.timing import Ratio
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.open import open_database

_MOST_RATIO = 0.4
_WARM_UPS = 5
_FIGURE = "closure in Neo4j to a plain query, a row an item"


async def run(context: Context) -> Section:
    """Measure in the made store, which is made first where the server does not have it."""
    section = Section("Closure in Neo4j")
    try:
        server = await context.server.get(layout_key("neo4j"))
    except ServerError as error:
        section.missing.append(f"no Neo4j can be had: {error}")
        section.goals.append(at_most(_FIGURE, _MOST_RATIO, None, times))
        return section
    found = await _measure(context, server, section)
    section.notes.append(
        f"Store of {context.shape}; Neo4j {server.version}, driver {neo4j.__version__}; both through the asynchronous "
        "driver, in read transactions."
    )
    section.goals.append(at_most(_FIGURE, _MOST_RATIO, found.value, times))
    return section


async def _measure(context: Context, server: Server, section: Section) -> Ratio:
    shape = context.shape
    auth = (server.credentials.user, server.credentials.password)
    with context.scratch() as folder:
        values = (folder / "values").as_uri()
        async with (
            await open_database(server.uri, values, server.credentials) as database,
            neo4j.AsyncGraphDatabase.driver(server.uri, auth=auth, notifications_min_severity="OFF") as driver,
        ):
            store = database.project(f"{PROJECT}-{shape.traces}x{shape.variables}")
            peers = Peers(
                "plain Cypher, a row an item, the same columns",
                _asking(driver, "closure.cypher"),
                lambda rows: [item[0] for (item,) in rows],
                {
                    "plain Cypher, a row an item, whole nodes": _asking(driver, "closure_whole.cypher"),
                    "plain Cypher, ids of the variables only, in one row": _asking(driver, "closure_ids.cypher"),
                },
                warm_ups=1 if context.quick else _WARM_UPS,
            )
            try:
                await fill(store, shape)
                say("closure in Neo4j")
                return await compare(context, store, peers, section)
            finally:
                if not server.ours:
                    await _remove(store, shape.traces)


def _asking(driver: neo4j.AsyncDriver, name: str) -> Ask:
    async def ask(id_: str) -> list[Any]:
        async def work(transaction: neo4j.AsyncManagedTransaction) -> list[Any]:
            return await (await transaction.run(query(name), id=id_)).values()

        async with driver.session() as session:
            return await session.execute_read(work)

    return ask


async def _remove(store: GraphStore, traces: int) -> None:
    """Leave a server that is not ours as it was."""
    say("deleting the made store from the server")
    for trace in await store.get(Label.TRACE, [trace_of(store.project_id, number) for number in range(traces)]):
        await store.delete_trace(trace.id)
