"""Sending files and following jobs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx

from tests.graph_files import GraphFile, conversation

PATIENCE_SECONDS = 300
JSON = {"Content-Type": "application/json"}

Receipt = dict[str, Any]


def small(graph_id: str) -> GraphFile:
    """A graph of about a hundred variables, with failures."""
    return conversation(messages=25, questions=6, buffer_characters=1_000, graph_id=graph_id)


def send(client: httpx.Client, graph: GraphFile | bytes, **more: Any) -> Receipt:
    """Upload a file; its receipt."""
    body = graph if isinstance(graph, bytes) else graph.as_bytes()
    answer = client.post("/v1/import", content=body, headers=JSON | more.pop("headers", {}), params=more)
    assert answer.status_code == 202, answer.text
    receipt: Receipt = answer.json()
    assert answer.headers["Location"].startswith(f"/v1/jobs/{receipt['id']}?")
    return receipt


def start(client: httpx.Client, what: str, **request: Any) -> Receipt:
    """Ask for an attribution or a report; the receipt."""
    answer = client.post(f"/v1/{what}", json=request)
    assert answer.status_code == 202, answer.text
    receipt: Receipt = answer.json()
    return receipt


def look(client: httpx.Client, receipt: Receipt) -> Receipt:
    """A job as it stands now."""
    answer = client.get(f"/v1/jobs/{receipt['id']}")
    assert answer.status_code == 200, answer.text
    found: Receipt = answer.json()
    return found


def until(client: httpx.Client, receipt: Receipt, reached: Callable[[Receipt], bool]) -> Receipt:
    """Follow a job until it is in this state; fail the test if it never is."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = look(client, receipt)
        if reached(found):
            return found
        assert time.monotonic() < end, f"the job stands still: {found}"
        time.sleep(0.02)


def ended(client: httpx.Client, receipt: Receipt) -> Receipt:
    """Follow a job to its end."""
    return until(client, receipt, lambda found: found["state"] in {"done", "failed", "cancelled"})


def done(client: httpx.Client, receipt: Receipt) -> Any:
    """Follow a job that must be done; its result."""
    found = ended(client, receipt)
    assert found["state"] == "done", found
    assert found["error"] is None
    assert found["endedAt"] is not None
    return found["result"]
