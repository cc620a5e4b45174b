"""Events for a server's door, and the wait until they are in the graph."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx

from tests.server.running import RunningServer, certificates

LINES = "application/x-ndjson"
PATIENCE_SECONDS = 300


def event(type_: str, trace: str, **fields: Any) -> dict[str, Any]:
    """An event with a head."""
    return {"v": 1, "type": type_, "trace": trace, "time": "2026-01-01T00:00:00.000000Z", **fields}


def message(trace: str, name: str, value: str = "hello") -> dict[str, Any]:
    """A variable from outside."""
    fields = {"name": name, "kind": "Message", "version": 0, "value": value, "mediaType": "text/plain"}
    return event("variable", trace, variable=name, **fields)


def lines(*events: dict[str, Any]) -> bytes:
    """NDJSON."""
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def send(
    server: RunningServer,
    body: bytes,
    kind: str = LINES,
    encoding: str | None = None,
    project: str | None = None,
) -> httpx.Response:
    """Send a body to the server's door."""
    headers = {"Content-Type": kind} | ({"Content-Encoding": encoding} if encoding else {})
    with server.client("writer", project) as client:
        return client.post("/v1/events", content=body, headers=headers)


def arrives(server: RunningServer, trace: str, variables: int) -> None:
    """Wait until so many variables are in the graph, and check that no more come."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := variables_of(server, trace)) < variables:
        assert time.monotonic() < deadline, f"{found} of {variables}"
        time.sleep(0.02)
    drained(server)
    assert variables_of(server, trace) == variables


def drained(server: RunningServer) -> None:
    """Wait until nothing waits for the graph."""
    await_metric(server, "memtrace_queue_packets", 0)


def await_metric(server: RunningServer, name: str, value: float) -> None:
    """Wait until one of the server's metrics has a value."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := metrics(server.url)[name]) != value:
        assert time.monotonic() < deadline, f"{name} is {found}"
        time.sleep(0.02)


def metrics(url: str) -> dict[str, float]:
    """What a process counts, by name and labels as they stand there."""
    page = httpx.get(f"{url}/metrics", timeout=300, verify=certificates()).text
    pairs = (line.rpartition(" ") for line in page.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


def variables_of(server: RunningServer, trace: str) -> int:
    """How many variables a trace has in the graph."""
    document = "query($t: String!) { project { trace(reference: $t) { counts { variables } } } }"
    with server.client() as client:
        answer = client.post("/graphql", json={"query": document, "variables": {"t": trace}}).json()
    found = answer["data"]["project"]["trace"]
    return 0 if found is None else int(found["counts"]["variables"])
