"""From the recorder in an application's own process to the graph, over real HTTP: docs/recording.md as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from typing import Any

from tests.data import ROOT
from tests.server.running import RunningServer

_PAGE = (ROOT / "docs" / "recording.md").read_text("utf-8")
_PROGRAM = re.findall(r"^```python\n(.*?)^```", _PAGE, re.DOTALL | re.MULTILINE)[0]
_CLOSURE = """query($t: String!) { project { trace(reference: $t) {
  operations { nodes { kind status } }
  variables(kinds: [Answer]) { nodes { lineage { nodes { kind preview occurrence } operations { kind } } } }
} } }"""


def test_an_application_is_recorded(server: RunningServer) -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")}
    said = {"MEMTRACE_ENDPOINT": server.url, "MEMTRACE_API_KEY": server.key("writer"), "PYTHONPATH": str(ROOT / "sdk")}
    done = subprocess.run([sys.executable, "-c", _PROGRAM], env=own | said, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "spooled=0, dropped=0, rejected=0" in done.stdout
    deadline = time.monotonic() + 30
    with server.client() as client:
        while "memtrace_queue_packets 0.0" not in client.get("/metrics").text:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        answer = client.post("/graphql", json={"query": _CLOSURE, "variables": {"t": "recorded"}}).json()
    trace: dict[str, Any] = answer["data"]["project"]["trace"]
    assert [one["status"] for one in trace["operations"]["nodes"]] == ["ok"] * 3
    (found,) = trace["variables"]["nodes"]
    kinds = [node["kind"] for node in found["lineage"]["nodes"]]
    assert sorted(kinds) == ["Answer", "MemoryUnit", "MemoryUnit", "Message", "Query"]
    assert [one["kind"] for one in found["lineage"]["operations"]] == ["Extraction", "Retrieval", "Generation"]
