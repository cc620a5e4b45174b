"""Made stores that are kept between runs."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from benchmarks.context import Context, say
from benchmarks.generator import VERSION, Shape, batch_of, trace_of
from schema.texts import cypher, migrations, sql
from store.answers import Label
from store.open import open_database
from store.protocol import GraphStore

PROJECT = "benchmark"
_SAY_EVERY = 5
_WRITTEN = ("trace", "session", "operation", "variable", "derivation", "usage")


def layout_key(engine: str) -> str:
    """Names a generator and a layout: a store made by another of either is not used again."""
    text = sql if engine == "sqlite" else cypher
    verb = "insert" if engine == "sqlite" else "write"
    parts = [str(VERSION), *(text(f"{verb}_{name}") for name in _WRITTEN)]
    parts += [statement for migration in migrations(engine) for statement in migration.statements]
    return blake2b("\0".join(parts).encode(), digest_size=5).hexdigest()


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
