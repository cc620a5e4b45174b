"""Child: attributes all failures of a trace, one after the other, and prints seconds and peak memory as JSON.

It takes memory as ``memtrace attribute`` does, and imports no more: the driver of Neo4j would count as memory here.

Run: ``python -m benchmarks.attribution_of_trace STORE_FILE PROJECT``
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from api.processes.memory import hold_little
from attribution.run import Options, attribute
from attribution.verdicts.stored import every_failure
from benchmarks.memory import peak_memory
from schema.models import Failure
from store.contract.protocol import GraphStore
from store.open import open_database


async def time_each(store: GraphStore, failures: Sequence[Failure]) -> list[float]:
    """Seconds of each failure of a trace, in one run of the free pass: one comes after the other.

    Raises:
        RuntimeError: a verdict was there already.
    """
    taken = []
    started = time.perf_counter()
    async for outcome in attribute(store, failures, Options()):
        taken.append(time.perf_counter() - started)
        if outcome.cached:
            raise RuntimeError(f"the verdict on {outcome.failure.id} was found, not made")
        started = time.perf_counter()
    return taken


async def _attribute(path: Path, project: str) -> list[float]:
    async with await open_database(f"sqlite:///{path}") as database:
        store = database.project(project)
        return await time_each(store, await every_failure(store, None))


if __name__ == "__main__":
    hold_little()
    found = asyncio.run(_attribute(Path(sys.argv[1]), sys.argv[2]))
    print(json.dumps({"seconds": found, "peak": peak_memory()}))
