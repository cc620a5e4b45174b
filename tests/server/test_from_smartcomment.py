"""A live graph of smartcomment that is sent while it grows gives the same graph as its file."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import memtrace
import pytest
from memtrace.smartcomment import NotTakenError

from benchmarks.context import UnavailableError
from benchmarks.smartcomment_environment import newest_python
from tests.data import SAMPLE
from tests.environments import python
from tests.sdk.instruments.running import APPLICATIONS
from tests.server.running import RunningServer

COUNTS = "query($t: String!) { project { trace(reference: $t) { counts { operations } } } }"


class Growing:
    """A graph as smartcomment's network exports it."""

    def __init__(self, graph: dict[str, Any]) -> None:
        self.graph = graph

    def export_graph(self) -> dict[str, Any]:
        return copy.deepcopy(self.graph)


def taken(server: RunningServer, network: Growing) -> dict[str, Any]:
    """Send a graph, and wait until its job has ended: what it made."""
    return ended(
        server, memtrace.from_smartcomment(network, server.url, server.key("writer", server.project), timezone="UTC")
    )


def ended(server: RunningServer, job: str) -> dict[str, Any]:
    """Wait until a job has ended: what it made."""
    with server.client(project=server.project) as client:
        deadline = time.monotonic() + 120
        while (found := client.get(f"/v1/jobs/{job}").json())["state"] not in {"done", "failed", "cancelled"}:
            assert time.monotonic() < deadline, found
            time.sleep(0.05)
    assert found["error"] is None, found
    result: dict[str, Any] = found["result"]
    return result


def test_a_graph_that_grows(server: RunningServer) -> None:
    whole = json.loads(SAMPLE.read_text("utf-8"))
    data = whole["data"]
    operations = data["operations"][: len(data["operations"]) // 2]
    ended = {one["op_id"] for one in operations}
    edges = [edge for edge in data["edges"] if edge["op_id"] in ended]
    ends = {edge[name] for edge in edges for name in ("source_full_node_id", "target_full_node_id")}
    nodes = [node for node in data["nodes"] if node["full_node_id"] in ends]
    begun = whole | {"data": data | {"operations": operations, "edges": edges, "nodes": nodes}}
    taken(server, Growing(begun))
    taken(server, Growing(whole))
    with server.client(project=server.project) as client:
        exported = client.get(f"/v1/export/{whole['graph_id']}")
    found = exported.json()["data"]
    assert {one["edge_id"] for one in found["edges"]} == {one["edge_id"] for one in data["edges"]}
    assert {one["full_node_id"] for one in found["nodes"]} == {one["full_node_id"] for one in data["nodes"]}


@pytest.mark.full
def test_the_package_itself(server: RunningServer, tmp_path: Path) -> None:
    """Its own network is sent, while it grows and at its end."""
    try:
        of, _ = newest_python()
    except UnavailableError as error:
        pytest.skip(str(error))
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("MEMTRACE", "PYTHON"))}
    settings |= {"MEMTRACE_ENDPOINT": server.url, "MEMTRACE_API_KEY": server.key("writer", server.project)}
    done = subprocess.run(
        [str(python("smartcomment", of)), str(APPLICATIONS / "smartcomment_agent.py")],
        env=settings,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    said = json.loads(done.stdout)
    for job in said["jobs"]:
        ended(server, job)
    whole = said["graph"]
    with server.client(project=server.project) as client:
        exported = client.get(f"/v1/export/{whole['graph_id']}").json()
        asked = {"query": COUNTS, "variables": {"t": whole["graph_id"]}}
        answer = client.post("/graphql", json=asked).json()
    for part, key in (("edges", "edge_id"), ("nodes", "full_node_id"), ("operations", "op_id")):
        assert {one[key] for one in exported["data"][part]} == {one[key] for one in whole["data"][part]}
    assert answer["data"]["project"]["trace"]["counts"]["operations"] == len(whole["data"]["operations"]) == 3


@pytest.mark.one_engine
def test_what_is_not_taken_is_said(server: RunningServer) -> None:
    network = Growing({"graph_id": "g"})
    with pytest.raises(NotTakenError, match="status 401"):
        memtrace.from_smartcomment(network, server.url, "mt_nobody_nothing", timezone="UTC")
    with pytest.raises(NotTakenError, match="can't be reached"):
        memtrace.from_smartcomment(network, "http://127.0.0.1:1", timezone="UTC")
    with pytest.raises(ValueError, match="endpoint"):
        memtrace.from_smartcomment(network, "")
