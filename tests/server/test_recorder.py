"""From the recorder in an application's own process to the graph, over real HTTP: the examples of the documents."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.data import ROOT
from tests.server.running import RunningServer

_CLOSURE = """query($t: String!) { project { trace(reference: $t) {
  operations { nodes { kind status } }
  variables(kinds: [Answer]) { nodes { lineage { nodes { kind preview occurrence } operations { kind } } } }
} } }"""


def record(server: RunningServer, page: str) -> str:
    """Run the first program of a page, and wait until what it recorded is in the graph; what it printed."""
    return run(
        server, re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)[0]
    )


def run(server: RunningServer, program: str) -> str:
    """Run a program, and wait until what it recorded is in the graph; what it printed."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")}
    said = {"MEMTRACE_ENDPOINT": server.url, "MEMTRACE_API_KEY": server.key("writer"), "PYTHONPATH": str(ROOT / "sdk")}
    done = subprocess.run([sys.executable, "-c", program], env=own | said, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    deadline = time.monotonic() + 300
    with server.client() as client:
        while "memtrace_queue_packets 0.0" not in client.get("/metrics").text:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    return done.stdout


def test_an_application_is_recorded(server: RunningServer) -> None:
    assert "spooled=0, dropped=0, rejected=0" in record(server, "docs/recording.md")
    with server.client() as client:
        answer = client.post("/graphql", json={"query": _CLOSURE, "variables": {"t": "recorded"}}).json()
    trace: dict[str, Any] = answer["data"]["project"]["trace"]
    assert [one["status"] for one in trace["operations"]["nodes"]] == ["ok"] * 3
    (found,) = trace["variables"]["nodes"]
    kinds = [node["kind"] for node in found["lineage"]["nodes"]]
    assert sorted(kinds) == ["Answer", "MemoryUnit", "MemoryUnit", "Message", "Query"]
    assert [one["kind"] for one in found["lineage"]["operations"]] == ["Extraction", "Retrieval", "Generation"]


@pytest.mark.one_engine
def test_the_example_of_the_readme_lacks_nothing(server: RunningServer) -> None:
    assert record(server, "README.md") == "Bo\n"
    checked = server.place.here("--project", server.project, "check", "my-agent", "--json")
    assert (checked.returncode, json.loads(checked.stdout)) == (0, [])
    answers = server.place.here("--project", server.project, "answers", "--trace", "my-agent", "--json")
    assert [one["preview"] for one in json.loads(answers.stdout)] == ["Bo"]


_JUDGED = """
import memtrace
with memtrace.trace("judged", id="judged"):
    for name in ("right", "unjudged"):
        memtrace.variable(f"{name}: Bo", kind="Answer", name=name)
    memtrace.feedback("right", right=True)
memtrace.flush()
"""


@pytest.mark.one_engine
def test_an_application_says_that_an_answer_was_right(server: RunningServer) -> None:
    run(server, _JUDGED)
    text = '{ project { trace(reference: "judged") { variables(kinds: [Answer]) { nodes { name right } } } } }'
    with server.client() as client:
        answer = client.post("/graphql", json={"query": text}).json()
    found = answer["data"]["project"]["trace"]["variables"]["nodes"]
    assert {one["name"]: one["right"] for one in found} == {"right": True, "unjudged": None}
