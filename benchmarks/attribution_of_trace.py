"""Child: attributes all failures of a trace, one after the other, and prints seconds and peak memory as JSON.

Run: ``python -m benchmarks.attribution_of_trace STORE_FILE PROJECT``
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from attribution.lookup import every_failure
from benchmarks.attribution import time_each
from benchmarks.memory import peak_memory
from store.open import open_database


async def _attribute(path: Path, project: str) -> list[float]:
    async with await open_database(f"sqlite:///{path}") as database:
        store = database.project(project)
        return await time_each(store, await every_failure(store, None))


if __name__ == "__main__":
    found = asyncio.run(_attribute(Path(sys.argv[1]), sys.argv[2]))
    print(json.dumps({"seconds": found, "peak": peak_memory()}))
