"""Events over HTTP: what is taken, what is refused, and that nothing is half taken."""

from __future__ import annotations

import gzip
import json
import time
from typing import Any
from uuid import uuid4

import httpx
import pytest
import zstandard

from tests.server.running import RunningServer

LINES = "application/x-ndjson"


def _event(type_: str, trace: str, **fields: Any) -> dict[str, Any]:
    return {"v": 1, "type": type_, "trace": trace, "time": "2026-01-01T00:00:00.000000Z", **fields}


def _message(trace: str, name: str, value: str = "hello") -> dict[str, Any]:
    fields = {"name": name, "kind": "Message", "version": 0, "value": value, "mediaType": "text/plain"}
    return _event("variable", trace, variable=name, **fields)


def _lines(*events: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def _send(server: RunningServer, body: bytes, kind: str = LINES, encoding: str | None = None) -> httpx.Response:
    headers = {"Content-Type": kind} | ({"Content-Encoding": encoding} if encoding else {})
    with server.client("writer") as client:
        return client.post("/v1/events", content=body, headers=headers)


def _arrives(server: RunningServer, trace: str, variables: int) -> None:
    """Wait until so many variables are in the graph, and see that no more come."""
    deadline = time.monotonic() + 30
    while (found := _variables(server, trace)) < variables:
        assert time.monotonic() < deadline, f"{found} of {variables}"
        time.sleep(0.02)
    _drained(server)
    assert _variables(server, trace) == variables


def _drained(server: RunningServer) -> None:
    """Wait until nothing waits for the graph."""
    deadline = time.monotonic() + 30
    with server.client() as client:
        while "memtrace_queue_packets 0.0" not in client.get("/metrics").text:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def _variables(server: RunningServer, trace: str) -> int:
    document = "query($t: String!) { project { trace(reference: $t) { counts { variables } } } }"
    with server.client() as client:
        answer = client.post("/graphql", json={"query": document, "variables": {"t": trace}}).json()
    found = answer["data"]["project"]["trace"]
    return 0 if found is None else int(found["counts"]["variables"])


@pytest.mark.parametrize("encoding", [None, "gzip", "zstd"])
def test_events_come_into_the_graph(server: RunningServer, encoding: str | None) -> None:
    trace = uuid4().hex
    body = _lines(_event("trace", trace, name="t"), *(_message(trace, f"m{i}", "x" * 5000) for i in range(50)))
    packed = {None: body, "gzip": gzip.compress(body), "zstd": zstandard.compress(body)}[encoding]
    assert _send(server, packed, encoding=encoding).json() == {"accepted": 51, "rejected": []}
    _arrives(server, trace, 50)
    assert _send(server, packed, encoding=encoding).json() == {"accepted": 51, "rejected": []}
    _arrives(server, trace, 50)


@pytest.mark.parametrize("is_list", [True, False])
def test_events_as_json(server: RunningServer, is_list: bool) -> None:
    trace = uuid4().hex
    body = json.dumps([_message(trace, "m")] if is_list else _message(trace, "m")).encode()
    assert _send(server, body, "application/json").json()["accepted"] == 1
    _arrives(server, trace, 1)


def test_each_event_has_its_own_result(server: RunningServer) -> None:
    trace = uuid4().hex
    body = (
        _lines(_message(trace, "m0"))
        + b"not json\n\n"
        + _lines(
            _message(trace, "m1") | {"v": 0},
            _message(trace, "m2") | {"kind": "Nonsense"},
            _message(trace, "m3"),
        )
    )
    answer = _send(server, body).json()
    assert answer["accepted"] == 2
    assert [one["index"] for one in answer["rejected"]] == [1, 2, 3]
    reasons = [one["reason"] for one in answer["rejected"]]
    assert "not JSON" in reasons[0]
    assert "version 1" in reasons[1]
    assert "kind" in reasons[2]
    _arrives(server, trace, 2)


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (gzip.compress(b" " * (200 << 20)), "gzip"),
        (zstandard.compress(b" " * (200 << 20)), "zstd"),
        (gzip.compress(b" " * (20 << 20)) * 4, "gzip"),
        (b" " * (40 << 20), None),
    ],
    ids=["gzip", "zstd", "several members", "plain"],
)
def test_what_unpacks_beyond_the_limit_is_too_large(server: RunningServer, body: bytes, encoding: str | None) -> None:
    response = _send(server, body, encoding=encoding)
    assert response.status_code == 413, response.text
    assert response.headers["content-type"].startswith("application/problem+json")


@pytest.mark.parametrize(
    ("body", "kind", "encoding", "status"),
    [
        (b"x", "text/plain", None, 415),
        (b"x", LINES, "br", 415),
        (b"no gzip", LINES, "gzip", 400),
        (gzip.compress(b"{}\n" * 100)[:-9], LINES, "gzip", 400),
        (b"no zstd", LINES, "zstd", 400),
        (b"{", "application/json", None, 400),
    ],
    ids=["type", "encoding", "no gzip", "half a gzip", "no zstd", "no json"],
)
def test_what_is_no_request_is_refused(
    server: RunningServer, body: bytes, kind: str, encoding: str | None, status: int
) -> None:
    response = _send(server, body, kind, encoding)
    assert response.status_code == status, response.text
    assert response.headers["content-type"].startswith("application/problem+json")


def test_the_schema_of_events_is_told(server: RunningServer) -> None:
    with server.client() as client:
        assert client.get("/v1/events/schema").json()["title"].startswith("MemTrace wire event, version 1")
