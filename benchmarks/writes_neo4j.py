"""How fast Neo4j is written through the store, beside bare ``CREATE`` statements of the same rows.

Both write traces that are not there, with all properties, labels and relationships, into one server with the same
constraints and indexes. What a run has written is deleted before the next one.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import neo4j

from benchmarks.context import Context, say
from benchmarks.generated import layout_key
from benchmarks.generator import batch_of
from benchmarks.neo4j_server import Server, ServerError
from benchmarks.queries import query
from benchmarks.report import Section
from benchmarks.timing import timed
from benchmarks.writes import Peer, compare
from schema.models import Batch
from schema.times import EPOCH
from store.contract.answers import Label
from store.neo4j.rows import element_id, rows_of
from store.open import open_database

_WARM_UPS = 2
_ROWS_A_STATEMENT = 1000
_STATEMENTS_A_TRANSACTION = 10

_PEER = Peer(
    "Neo4j",
    "bare CREATE",
    0.6,
    15_000,
    "Bare CREATE is one statement for each label and for usages, with finished rows: nothing is looked for, compared "
    "or merged, so that it could neither be stopped halfway nor sent again.",
)

_Statement = tuple[str, list[Any]]


async def run(context: Context) -> Section:
    """Write into one server in turns, under two projects that are deleted again."""
    section = Section("Writing to Neo4j")
    try:
        server = await context.server.get(layout_key("neo4j"))
    except ServerError as error:
        section.missing.append(f"no Neo4j can be had: {error}")
        _PEER.goals(section, None, None)
        return section
    say("writes to Neo4j")
    await _measure(context, server, section)
    return section


async def _measure(context: Context, server: Server, section: Section) -> None:
    auth = (server.credentials.user, server.credentials.password)
    unique = uuid.uuid4().hex  # nothing of an earlier run is left
    with context.scratch() as folder:
        values = (folder / "values").as_uri()
        async with (
            await open_database(server.uri, values, server.credentials) as database,
            neo4j.AsyncGraphDatabase.driver(server.uri, auth=auth, notifications_min_severity="OFF") as driver,
        ):
            store, other = database.project(f"writes-{unique}"), database.project(f"bare-{unique}")

            async def ours(run: int) -> float:
                batch = batch_of(store.project_id, context.shape, run + _WARM_UPS)
                try:
                    return (await timed(store.write(batch)))[0]
                finally:
                    await store.delete_trace(batch.trace.id)

            async def theirs(run: int) -> float:
                batch = batch_of(other.project_id, context.shape, run + _WARM_UPS)
                transactions = list(_in_parts(list(_statements(batch)), _STATEMENTS_A_TRANSACTION))
                try:
                    return (await timed(_execute(driver, transactions)))[0]
                finally:
                    await other.delete_trace(batch.trace.id)

            await database.migrate()
            await compare(context, ours, theirs, _PEER, section, _WARM_UPS)
    section.notes.append(
        f"Neo4j {server.version}, driver {neo4j.__version__}; {_ROWS_A_STATEMENT:,} rows a statement and "
        f"{_STATEMENTS_A_TRANSACTION} statements a transaction."
    )


async def _execute(driver: neo4j.AsyncDriver, transactions: list[list[_Statement]]) -> None:
    async with driver.session() as session:
        for statements in transactions:

            async def work(transaction: neo4j.AsyncManagedTransaction, part: Sequence[_Statement]) -> None:
                for name, rows in part:
                    await (await transaction.run(query(name), rows=rows, epoch=EPOCH)).consume()

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
        rows = rows_of(label, sorted(group, key=element_id))
        yield from ((f"create_{label.lower()}.cypher", part) for part in _in_parts(rows, _ROWS_A_STATEMENT))
    used = [
        {"operationId": u.operation_id, "variableId": u.variable_id, "role": u.role, "position": u.position}
        for u in batch.usages
    ]
    yield from (("create_usage.cypher", part) for part in _in_parts(used, _ROWS_A_STATEMENT))
    yield "create_trace.cypher", rows_of(Label.TRACE, [batch.trace])


def _in_parts(items: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
