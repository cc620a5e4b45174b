"""How fast Neo4j is written through the store, beside the same ``UNWIND`` statements with finished rows."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import neo4j

from benchmarks.context import Context, say
from benchmarks.generated import layout_key
from benchmarks.generator import batch_of, trace_of
from benchmarks.neo4j_server import Server, ServerError
from benchmarks.report import Section
from benchmarks.timing import timed
from benchmarks.writes import compare, goal, runs_of
from schema.models import Batch
from schema.texts import cypher
from store.answers import Label
from store.neo4j.rows import WRITERS, element_id
from store.open import open_database
from store.protocol import GraphStore
from store.times import EPOCH

_WARM_UPS = 2
_ROWS_A_STATEMENT = 1000
_STATEMENTS_A_TRANSACTION = 10

_Statement = tuple[str, list[Any]]


async def run(context: Context) -> Section:
    """Write into one server in turns, under two projects that are deleted again."""
    section = Section("Writing to Neo4j")
    try:
        server = await context.server.get(layout_key("neo4j"))
    except ServerError as error:
        section.missing.append(f"no Neo4j can be had: {error}")
        goal(section, "Neo4j", None)
        return section
    say("writes to Neo4j")
    await _measure(context, server, section)
    return section


async def _measure(context: Context, server: Server, section: Section) -> None:
    auth = (server.credentials.user, server.credentials.password)
    unique = uuid.uuid4().hex  # nothing of an earlier run is met
    with context.scratch() as folder:
        values = (folder / "values").as_uri()
        async with (
            await open_database(server.uri, values, server.credentials) as database,
            neo4j.AsyncGraphDatabase.driver(server.uri, auth=auth, notifications_min_severity="OFF") as driver,
        ):
            store, other = database.project(f"writes-{unique}"), database.project(f"bare-{unique}")

            async def ours(run: int) -> float:
                return (await timed(store.write(batch_of(store.project_id, context.shape, run + _WARM_UPS))))[0]

            async def theirs(run: int) -> float:
                batch = batch_of(other.project_id, context.shape, run + _WARM_UPS)
                transactions = list(_in_parts(list(_statements(batch)), _STATEMENTS_A_TRANSACTION))
                return (await timed(_execute(driver, other.project_id, transactions)))[0]

            try:
                await compare(context, "Neo4j", ours, theirs, section, _WARM_UPS)
            finally:
                for one in (store, other):
                    await _remove(one, runs_of(context) + _WARM_UPS)
    section.notes.append(
        f"Neo4j {server.version}, driver {neo4j.__version__}; {_ROWS_A_STATEMENT:,} rows a statement and "
        f"{_STATEMENTS_A_TRANSACTION} statements a transaction."
    )


async def _execute(driver: neo4j.AsyncDriver, project: str, transactions: list[list[_Statement]]) -> None:
    async with driver.session() as session:
        for statements in transactions:

            async def work(transaction: neo4j.AsyncManagedTransaction, part: Sequence[_Statement]) -> None:
                for name, rows in part:
                    await (await transaction.run(cypher(name), rows=rows, projectId=project, epoch=EPOCH)).consume()

            await session.execute_write(work, statements)


def _statements(batch: Batch) -> Iterator[_Statement]:
    """The rows of a made trace, finished, in the order in which they must be written."""
    elements: list[tuple[Label, Sequence[Any]]] = [
        (Label.SESSION, batch.sessions),
        (Label.OPERATION, batch.operations),
        (Label.VARIABLE, batch.variables),
        (Label.DERIVATION, batch.derivations),
    ]
    for label, group in elements:
        rows = list(map(WRITERS[label], sorted(group, key=element_id)))
        yield from ((f"write_{label.lower()}", part) for part in _in_parts(rows, _ROWS_A_STATEMENT))
    used = [
        {"operationId": u.operation_id, "variableId": u.variable_id, "role": u.role, "position": u.position}
        for u in batch.usages
    ]
    yield from (("write_usage", part) for part in _in_parts(used, _ROWS_A_STATEMENT))
    yield "write_trace", [WRITERS[Label.TRACE](batch.trace)]


def _in_parts(items: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


async def _remove(store: GraphStore, traces: int) -> None:
    for trace in await store.get(Label.TRACE, [trace_of(store.project_id, number) for number in range(traces)]):
        await store.delete_trace(trace.id)
