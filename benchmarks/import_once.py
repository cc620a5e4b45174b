"""Child: imports one file into a new SQLite store and prints seconds and peak memory as JSON.

Run: ``python -m benchmarks.import_once GRAPH_FILE STORE_FILE``
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from benchmarks.timing import timed
from ingest.files.importing import import_path
from store.open import open_database


async def _import(file: Path, target: Path) -> float:
    async with await open_database(f"sqlite:///{target}") as database:
        seconds, _ = await timed(import_path(database.project("benchmark"), file))
    return seconds


def _peak_memory() -> int:
    """Bytes of memory that this process had at most, pages of mapped files included."""
    status = Path("/proc/self/status")
    if status.exists():
        # The kernel's ru_maxrss may also count the process that started this one.
        line = next(line for line in status.read_text("ascii").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    found = asyncio.run(_import(Path(sys.argv[1]), Path(sys.argv[2])))
    print(json.dumps({"seconds": found, "peak": _peak_memory()}))
