"""Made stores that are kept between runs."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from benchmarks.context import Context, say
from benchmarks.generator import VERSION, Shape, batch_of, trace_of
from schema.migrations import migrations
from store.contract.answers import IN_ORDER, Label
from store.contract.protocol import GraphStore
from store.neo4j.queries import cypher
from store.open import open_database
from store.sqlite.queries import Table, sql

PROJECT = "benchmark"
_SAY_EVERY = 5


def layout_key(engine: str) -> str:
    """Names a generator and a layout: a store made by another of either is not used again."""
    parts = [str(VERSION), *(_written_by_sqlite() if engine == "sqlite" else _written_by_neo4j())]
    parts += [statement for migration in migrations(engine) for statement in migration.statements]
    return blake2b("\0".join(parts).encode(), digest_size=5).hexdigest()


def _written_by_sqlite() -> Iterator[str]:
    yield sql("traces.insert", Label.TRACE)
    yield sql("tables.insert_new", Table.USAGE)
    yield from (sql("tables.insert", label) for label in IN_ORDER)


def _written_by_neo4j() -> Iterator[str]:
    yield from map(cypher, (f"write_{name}" for name in ("trace", "session", "usage")))
    yield from map(cypher, (f"create_{name}" for name in ("operation", "variable", "derivation")))


async def fill(store: GraphStore, shape: Shape) -> None:
    """Write the made traces that are not there; what a killed run left is completed."""
    wanted = [trace_of(store.project_id, number) for number in range(shape.traces)]
    there = {trace.id for trace in await store.get(Label.TRACE, wanted)}
    missing = [number for number, id_ in enumerate(wanted) if id_ not in there]
    for done, number in enumerate(missing):
        if done % _SAY_EVERY == 0:
            say(f"making a store of {shape}: {done} of {len(missing)} written")
        await store.write(batch_of(store.project_id, shape, number))


async def sqlite_file(context: Context) -> Path:
    """The file of the made store, complete."""
    shape = context.shape
    path = context.cache / f"generated-{shape.traces}x{shape.variables}-{layout_key('sqlite')}.db"
    async with await open_database(f"sqlite:///{path}") as database:
        await fill(database.project(PROJECT), shape)
    return path
