"""Child: reads random large values of a store, each with nothing of it in memory, and prints the seconds as JSON.

Each read has a database of its own, whose connection is open but which has unpacked nothing. Each value is read three
times and the median counts, so that a value is only slow if its place in the file makes it slow.

Run: ``python -m benchmarks.value_reads STORE_FILE COUNT``
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import sys
from pathlib import Path

from benchmarks.timing import timed
from schema.models import Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.open import open_database
from store.shared.paging import elements

_READS = 3


async def _measure(path: Path, count: int) -> list[float]:
    async with await open_database(f"sqlite:///{path}") as database:
        large = await _large(database.project("benchmark"))
    chosen = random.Random(1).sample(large, min(count, len(large)))
    found: list[list[float]] = [[] for _ in chosen]
    for _ in range(_READS):
        for reads, variable in zip(found, chosen, strict=True):
            async with await open_database(f"sqlite:///{path}") as database:
                store = database.project("benchmark")
                await store.get(Label.TRACE, [variable.trace_id])
                seconds, _ = await timed(store.value(variable))
                reads.append(seconds)
    return [statistics.median(reads) for reads in found]


async def _large(store: GraphStore) -> list[Variable]:
    """The variables whose values do not stand on them whole, one a value."""
    found: dict[str, Variable] = {}
    for trace in (await store.traces()).items:
        found.update((v.value_hash, v) for v in await elements(store, Variable, trace.id) if v.value is None)
    return list(found.values())


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_measure(Path(sys.argv[1]), int(sys.argv[2])))))
