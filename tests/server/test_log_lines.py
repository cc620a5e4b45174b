"""A log that nobody reads holds nobody up."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from api.log_lines import LineWriter
from tests.ports import free_ports
from tests.server.running import command, sqlite_place

pytestmark = pytest.mark.one_engine

_REQUESTS = 1500


def _wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_lines_come_in_order() -> None:
    reading, writing = os.pipe()
    writer = LineWriter(writing, lambda lines: None)
    sent = [f"line {number} é \ud800 {'x' * (number % 5000)}" for number in range(10)]
    for line in sent:
        writer.put(line)
    writer.close()
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        assert file.read().decode().splitlines() == [line.replace("\ud800", "\\ud800") for line in sent]


def test_lines_that_nobody_reads_are_dropped_and_counted() -> None:
    reading, writing = os.pipe()
    told: list[int] = []
    writer = LineWriter(writing, told.append, most_bytes=100_000)
    began = time.monotonic()
    for _ in range(10_000):
        writer.put("x" * 99)
    assert time.monotonic() - began < 30
    assert 8_000 < writer.dropped < 9_500  # the pipe has room for 64 KiB, and the memory for 100,000 bytes
    dropped, read = writer.dropped, b""
    while len(read) < (10_000 - dropped) * 100:
        read += os.read(reading, 1 << 16)
    _wait_for(lambda: sum(told) == dropped)
    writer.put("again")
    assert os.read(reading, 100) == b"again\n"
    writer.close()
    os.close(writing)
    os.close(reading)


def test_a_full_pipe_does_not_hold_the_end_up() -> None:
    reading, writing = os.pipe()
    writer = LineWriter(writing, lambda lines: None)
    for _ in range(2_000):
        writer.put("x" * 99)
    began = time.monotonic()
    writer.close()
    assert time.monotonic() - began < 10
    writer.put("too late")
    assert writer.dropped == 1
    os.close(reading)  # wakes the thread with an error


def test_a_reader_that_is_gone_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    told: list[int] = []
    writer = LineWriter(writing, told.append)
    writer.put("one")
    writer.put("two")
    _wait_for(lambda: writer.dropped == 2)
    writer.close()
    assert told == []
    os.close(writing)


@pytest.mark.full
def test_a_server_whose_log_nobody_reads(tmp_path: Path) -> None:
    """Standard output and standard error are one pipe, which is full after some hundred requests."""
    place, (port,) = sqlite_place(tmp_path), free_ports(1)
    reading, writing = os.pipe()
    server = subprocess.Popen(
        command("serve", "--port", str(port)), env=place.variables(), stdout=writing, stderr=writing
    )
    os.close(writing)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            deadline = time.monotonic() + 120
            while True:
                try:
                    client.get("/healthz")
                    break
                except httpx.TransportError:
                    assert time.monotonic() < deadline
                    time.sleep(0.1)
            for _ in range(_REQUESTS):
                assert client.get("/healthz").status_code == 200
            assert "memtrace_log_lines_dropped_total 0.0" in client.get("/metrics").text
        began = time.monotonic()
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
        assert time.monotonic() - began < 30
    finally:
        if server.poll() is None:
            server.kill()
            server.wait()
    with os.fdopen(reading, "rb") as file:
        assert 30_000 < len(file.read()) <= 65_536
