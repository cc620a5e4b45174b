"""A live graph of smartcomment: sent while it grows, it becomes what its file would."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import memtrace
import pytest
from memtrace.smartcomment import NotTakenError

from tests.data import SAMPLE
from tests.server.running import RunningServer


class Growing:
    """A graph as smartcomment's network exports it."""

    def __init__(self, graph: dict[str, Any]) -> None:
        self.graph = graph

    def export_graph(self) -> dict[str, Any]:
        return copy.deepcopy(self.graph)


def taken(server: RunningServer, network: Growing) -> dict[str, Any]:
    """Send a graph, and wait until its job has ended: what it made."""
    job = memtrace.from_smartcomment(network, server.url, server.key("writer", server.project), timezone="UTC")
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


def test_what_is_not_taken_is_said(server: RunningServer) -> None:
    network = Growing({"graph_id": "g"})
    with pytest.raises(NotTakenError, match="status 401"):
        memtrace.from_smartcomment(network, server.url, "mt_nobody_nothing", timezone="UTC")
    with pytest.raises(NotTakenError, match="can't be reached"):
        memtrace.from_smartcomment(network, "http://127.0.0.1:1", timezone="UTC")
    with pytest.raises(ValueError, match="endpoint"):
        memtrace.from_smartcomment(network, "")
