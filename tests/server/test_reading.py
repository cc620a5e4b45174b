"""Requests of events: short ones are read in threads, long ones in a process of their own, which may be killed."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import psutil
import pytest
import zstandard
from starlette.exceptions import HTTPException

from api.errors import TooLargeError
from api.http.bodies import JSON, LINES, EventsBody, Read, SpansBody
from api.http.reading import LONG_AT_A_TIME, SHORT_AT_A_TIME, Reading
from api.processes.helper import Helper
from ingest.otlp.media_types import PROTOBUF
from schema.errors import AmbiguousError, Candidate, InputError, StoreError
from tests.server.running import RunningServer, running, sqlite_place
from tests.server.wire_events import PATIENCE_SECONDS, arrives, lines, message, send

_LIMIT = 1 << 20
_LARGEST = 32 << 20


@pytest.fixture
async def reading() -> AsyncIterator[Reading]:
    made = Reading(_LARGEST)
    yield made
    await made.close()


def _events(count: int) -> bytes:
    return lines(*(message("t", f"m{number}") for number in range(count)))


def _body(body: bytes, kind: str = LINES[0], limit: int = _LARGEST) -> EventsBody:
    return EventsBody(zstandard.compress(body), kind, "zstd", limit)


async def test_all_of_a_request_is_read_whatever_its_length(reading: Reading) -> None:
    large = lines(message("t", "m", "x" * (3 << 20)))
    for count, body in ((1, _events(1)), (2000, _events(2000)), (2001, _events(2001)), (1, large)):
        read = await reading.read("p", _body(body), _LIMIT)
        assert (read.accepted, read.rejected) == (count, 0)
        assert sum(packet.count for packet in read.packets) == count


async def test_a_long_request_is_refused_as_a_short_one_is(reading: Reading) -> None:
    bad = lines(message("t", "m") | {"v": 2})
    short = await reading.read("p", _body(bad + _events(10)), _LIMIT)
    long = await reading.read("p", _body(bad + _events(3000)), _LIMIT)
    assert (long.accepted, long.rejected) == (3000, 1)
    assert long.answer == short.answer.replace(b":10,", b":3000,")
    with pytest.raises(TooLargeError, match=f"limit of {4 << 20:,} bytes"):
        await reading.read("p", _body(b"x" * (5 << 20), limit=4 << 20), _LIMIT)
    with pytest.raises(HTTPException, match="at most 20,000 events"):
        await reading.read("p", _body(b"{}\n" * 20_001), _LIMIT)
    with pytest.raises(InputError, match="is no JSON"):
        await reading.read("p", _body(b"[" + b" " * (3 << 20), JSON), _LIMIT)


@dataclass(frozen=True)
class _Waits:
    """A request that is short, and is read when it may be."""

    short_bytes: ClassVar[int] = 1

    begun: threading.Semaphore
    go_on: threading.Event

    def read(self, project_id: str, packet_bytes: int, most: int | None = None) -> Read | None:
        self.begun.release()
        assert self.go_on.wait(300)
        raise InputError("body", project_id, f"is no JSON: {packet_bytes} {most}")


async def test_an_error_leaves_no_slot_taken(reading: Reading) -> None:
    waits = _Waits(threading.Semaphore(0), threading.Event())
    waits.go_on.set()
    for _ in range(2 * (SHORT_AT_A_TIME + LONG_AT_A_TIME)):
        with pytest.raises(InputError):
            await reading.read("p", waits, _LIMIT)
        with pytest.raises(HTTPException):
            await reading.read("p", _body(b"{}\n" * 20_001), _LIMIT)


async def test_a_short_request_does_not_wait_for_long_ones(reading: Reading) -> None:
    await reading.read("p", _body(_events(2001)), _LIMIT)
    process = _process(reading)
    process.suspend()
    try:
        tasks = [asyncio.create_task(reading.read("long", _body(_events(2001)), _LIMIT)) for _ in range(5)]
        short = await asyncio.wait_for(reading.read("short", _body(_events(1)), _LIMIT), PATIENCE_SECONDS)
        assert short.accepted == 1
        assert not any(task.done() for task in tasks)
    finally:
        process.resume()
    assert [one.accepted for one in await asyncio.gather(*tasks)] == [2001] * 5


def _process(reading: Reading) -> psutil.Process:
    found = reading._helper._process
    assert found is not None
    return psutil.Process(found.pid)


async def test_after_a_kill_the_request_may_be_sent_again(reading: Reading) -> None:
    await reading.read("p", _body(_events(2001)), _LIMIT)
    process = _process(reading)
    process.suspend()
    asked = asyncio.create_task(reading.read("p", _body(_events(2001)), _LIMIT))
    await asyncio.sleep(0.2)
    process.kill()
    with pytest.raises(StoreError, match="send the request again"):
        await asked
    assert (await reading.read("p", _body(_events(2001)), _LIMIT)).accepted == 2001
    assert _process(reading).pid != process.pid


async def test_what_reading_takes_of_memory_is_bounded(reading: Reading) -> None:
    """A few KB of protobuf unpack to as many empty spans as fit: they would take gigabytes."""
    spans = b"\x12\x00" * (15 << 20)
    body = zstandard.compress(_field(1, _field(2, spans)))
    assert len(body) < 10_000
    with pytest.raises((InputError, HTTPException), match="too much memory"):
        await reading.read("p", SpansBody(body, PROTOBUF, "zstd", _LARGEST), _LIMIT)
    assert (await reading.read("p", _body(_events(2001)), _LIMIT)).accepted == 2001
    assert _process(reading).memory_info().rss < 256 << 20


def _field(number: int, body: bytes) -> bytes:
    length, head = len(body), bytearray([number << 3 | 2])
    while length > 127:
        head.append(length & 127 | 128)
        length >>= 7
    return bytes(head) + bytes([length]) + body


def _raised(kind: str) -> None:
    raise {
        "candidates": AmbiguousError("ab", ["abc", "abd"], [Candidate("abc", "Trace", "a", "abc")]),
        "limit": TooLargeError("it", 5, ": why"),
    }[kind]


def _fills_its_memory() -> None:
    """Take all that may be taken, down to the smallest pieces, and hold it when the error is raised."""
    held: list[object] = []
    size = 64 << 20
    while True:
        try:
            held.append(bytes(size))
        except MemoryError:
            if size == 32:
                raise
            size = max(size // 2, 32)


async def test_errors_come_back_as_they_are() -> None:
    helper = Helper(256 << 20)
    try:
        with pytest.raises(AmbiguousError, match="'ab' is ambiguous: abc") as ambiguous:
            await helper.run(_raised, "candidates")
        assert ambiguous.value.described[0].name == "a"
        with pytest.raises(TooLargeError, match="it is larger than the limit of 5 bytes: why") as large:
            await helper.run(_raised, "limit")
        assert large.value.limit == 5
        with pytest.raises(MemoryError):
            await helper.run(bytes, 1 << 30)
        with pytest.raises(MemoryError):
            await helper.run(_fills_its_memory)
        with pytest.raises(KeyError):
            await helper.run(_raised, "unknown")
        assert await helper.run(os.getpid) != os.getpid()
    finally:
        await helper.close()
    with pytest.raises(StoreError, match="the server stops"):
        await helper.run(os.getpid)


def _children(server: RunningServer, module: str) -> list[psutil.Process]:
    found = []
    for one in psutil.Process(server.process.pid).children():
        with suppress(psutil.NoSuchProcess):  # the process has just ended
            if module in one.cmdline():
                found.append(one)
    return found


def test_its_processes_end_with_a_server_that_is_killed(tmp_path: Path) -> None:
    with running(sqlite_place(tmp_path), tmp_path) as server:
        trace = uuid4().hex
        assert send(server, lines(*(message(trace, f"m{number}") for number in range(2001)))).status_code == 200
        children = [*_children(server, "api.processes.helper_child"), *_children(server, "api.event_writer.child")]
        assert len(children) == 2
        server.kill()
        gone, alive = psutil.wait_procs(children, PATIENCE_SECONDS)
        assert (len(gone), alive) == (2, [])


def _the_writer(server: RunningServer) -> psutil.Process:
    """The process that writes events, which is started a second after the one before has ended."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := _children(server, "api.event_writer.child")):
        assert time.monotonic() < deadline, "no process was started"
        time.sleep(0.05)
    (writer,) = found
    return writer


def test_another_process_goes_on_where_the_writer_was_killed(tmp_path: Path) -> None:
    """Whatever was acknowledged is in the graph, once."""
    trace, count = uuid4().hex, 0
    with running(sqlite_place(tmp_path), tmp_path) as server:
        for _ in range(3):
            for _ in range(20):
                sent = lines(*(message(trace, f"m{number}") for number in range(count, count + 50)))
                assert send(server, sent).json() == {"accepted": 50, "rejected": []}
                count += 50
            writer = _the_writer(server)
            writer.kill()
            writer.wait(PATIENCE_SECONDS)
            arrives(server, trace, count)
        server.await_log("the process that writes events has ended")
        assert server.stop() == 0
