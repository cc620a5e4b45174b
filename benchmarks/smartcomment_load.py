"""Child in an environment of its own: reads a graph file by smartcomment's own means and prints the seconds as JSON.

Nothing of the project may be imported here: it is not installed there. Run: ``python smartcomment_load.py GRAPH_FILE``
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from smartcomment.runtime.network import ExecNetwork  # type: ignore[import-not-found,unused-ignore]

if __name__ == "__main__":
    started = time.perf_counter()
    with Path(sys.argv[1]).open(encoding="utf-8") as file:
        data = json.load(file)
    graph = ExecNetwork.import_graph(data)
    print(json.dumps({"seconds": time.perf_counter() - started}))
