"""Child: imports one file into a new SQLite store and prints seconds and peak memory as JSON.

Run: ``python -m benchmarks.import_once GRAPH_FILE STORE_FILE``
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from benchmarks.memory import peak_memory
from benchmarks.timing import timed
from ingest.files.registry import import_path
from store.open import open_database


async def _import(file: Path, target: Path) -> float:
    async with await open_database(f"sqlite:///{target}") as database:
        seconds, _ = await timed(import_path(database.project("benchmark"), file))
    return seconds


if __name__ == "__main__":
    found = asyncio.run(_import(Path(sys.argv[1]), Path(sys.argv[2])))
    print(json.dumps({"seconds": found, "peak": peak_memory()}))
