"""Clients that hang up in the middle of a body of events leave nothing behind."""

from __future__ import annotations

import gzip
import socket
import struct
import time
from collections.abc import Iterator
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import zstandard

from tests.server.running import RunningServer, running, sqlite_place
from tests.server.wire_events import (
    PATIENCE_SECONDS,
    arrives,
    await_metric,
    lines,
    message,
    metrics,
    send,
    variables_of,
)

_ROUNDS = 40
_MEBIBYTES = 4
GONE = "the client went away"


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that nobody else uses."""
    folder = tmp_path_factory.mktemp("hung-up")
    with running(sqlite_place(folder), folder, rate_limit="1000000/minute") as server:
        yield server


def _hang_up(server: RunningServer, head: str, body: bytes, *, reset: bool = False) -> None:
    """Send a head and a part of a body, and go away: in order, or at once."""
    address = urlsplit(server.url)
    text = f"POST /v1/events HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/x-ndjson\r\n{head}\r\n"
    text += f"Authorization: {server.headers('writer')['Authorization']}\r\n\r\n"
    with socket.create_connection((address.hostname, address.port or 0), 30) as stream:
        stream.sendall(text.encode() + body)
        # One request hangs up, the other reads the metric.
        await_metric(server, "memtrace_requests_under_way", 2)
        if reset:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await_metric(server, "memtrace_requests_under_way", 1)


def _logged_since(server: RunningServer, place: int) -> list[dict[str, Any]]:
    """The lines of the log from a place on, once it says that a client went away: a thread writes the log."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not any(line["event"] == GONE for line in server.log[place:]):
        assert time.monotonic() < deadline, server.log_text
        time.sleep(0.02)
    return server.log[place:]


def _chunk(body: bytes) -> bytes:
    return f"{len(body):x}\r\n".encode() + body + b"\r\n"


@pytest.mark.parametrize("reset", [False, True], ids=["in order", "reset"])
@pytest.mark.parametrize("shape", ["length", "chunked", "gzip", "zstd", "gzip chunked"])
def test_a_half_body_leaves_nothing(alone: RunningServer, shape: str, reset: bool) -> None:
    trace = uuid4().hex
    whole = lines(*(message(trace, f"m{number}", token_hex(200)) for number in range(50)))
    packed = {"gzip": gzip.compress(whole), "zstd": zstandard.compress(whole)}.get(shape.partition(" ")[0], whole)
    half = packed[: len(packed) // 2]
    head = f"Content-Encoding: {shape.partition(' ')[0]}\r\n" if packed is not whole else ""
    if "chunked" in shape:
        head, half = head + "Transfer-Encoding: chunked", _chunk(half)
    else:
        head += f"Content-Length: {len(packed)}"
    before, logged = metrics(alone.url), len(alone.log)
    _hang_up(alone, head, half, reset=reset)
    after = metrics(alone.url)
    for name in ("accepted", "rejected"):
        counted = f'memtrace_events_received_total{{result="{name}"}}'
        assert after[counted] == before[counted]
    assert after["memtrace_queue_packets"] == 0
    assert variables_of(alone, trace) == 0
    said = _logged_since(alone, logged)
    assert [line["event"] for line in said].count(GONE) == 1
    assert {line["level"] for line in said} == {"info"}
    assert send(alone, whole).json() == {"accepted": 50, "rejected": []}
    arrives(alone, trace, 50)


def test_half_bodies_leave_no_memory(alone: RunningServer) -> None:
    body = lines(message(uuid4().hex, "m", "x" * 1000)) * (_MEBIBYTES << 10)
    head = f"Content-Length: {2 * len(body)}"
    for _ in range(8):
        _hang_up(alone, head, body)
    before = metrics(alone.url)["process_resident_memory_bytes"]
    for _ in range(_ROUNDS):
        _hang_up(alone, head, body)
    grown = metrics(alone.url)["process_resident_memory_bytes"] - before
    assert grown < _ROUNDS * len(body) / 4, f"{grown:,} bytes"
    assert "Traceback" not in alone.log_text + alone.said
