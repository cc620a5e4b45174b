"""Clients that request much and read little: their cost, and the time until they are disconnected.

A value is in a file of the server's before the first byte is sent, whichever engine it came from: SQLite is enough.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from random import Random
from typing import Any

import psutil
import pytest

from api.http.windows import WINDOW_BYTES, Budget, Copies
from api.settings.loading import open_store
from schema.errors import StoreError
from tests.factory import TraceBuilder
from tests.server.running import RunningServer, running, sqlite_place

VALUE_BYTES = 56 << 20
READERS = 20
WRITE_SECONDS = 2.0
ALLOWED_BYTES = 600 << 20
"""Twenty whole values would take twice as much."""


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that soon lets go of who reads nothing."""
    folder = tmp_path_factory.mktemp("slow")
    with running(sqlite_place(folder), folder, write_seconds=WRITE_SECONDS, job_concurrency=0) as server:
        yield server


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with the time limits of every day."""
    folder = tmp_path_factory.mktemp("patient")
    with running(sqlite_place(folder), folder, job_concurrency=0) as server:
        yield server


def store_value(server: RunningServer) -> tuple[str, bytes]:
    """Store a large value; returns the variable's id and the bytes."""
    text = Random(7).randbytes(VALUE_BYTES // 2).hex()
    built = TraceBuilder(server.project)
    variable = built.variable("large", text)

    async def keep() -> None:
        async with await open_store(server.place.settings()) as database:
            await built.write(database.project(server.project))

    asyncio.run(keep())
    return variable.id, text.encode()


def begin(server: RunningServer, path: str) -> socket.socket:
    """Ask for something, and read no more than the status of the answer."""
    host, port = server.url.removeprefix("http://").split(":")
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(60)
    client.connect((host, int(port)))
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.key()}\r\n\r\n".encode())
    assert client.recv(12) == b"HTTP/1.1 200"
    return client


def test_who_does_not_read_holds_no_value(patient: RunningServer) -> None:
    variable, data = store_value(patient)
    path = f"/v1/values/{variable}"
    process = psutil.Process(patient.process.pid)
    with ExitStack() as open_:
        for _ in range(READERS):
            open_.enter_context(begin(patient, path))
        assert process.memory_info().rss < ALLOWED_BYTES
        # Others are served meanwhile, all of it and parts.
        with patient.client() as client:
            assert client.get(path).content == data
            part = client.get(path, headers={"Range": f"bytes={WINDOW_BYTES - 5}-{3 * WINDOW_BYTES}"})
            assert (part.status_code, part.content) == (206, data[WINDOW_BYTES - 5 : 3 * WINDOW_BYTES + 1])
            assert part.headers["Content-Length"] == str(2 * WINDOW_BYTES + 6)
            none = client.get(path, headers={"Range": f"bytes={len(data)}-"})
            assert (none.status_code, none.headers["Content-Range"]) == (416, f"bytes */{len(data)}")
        assert process.memory_info().rss < ALLOWED_BYTES


def test_who_reads_nothing_is_let_go(hurried: RunningServer) -> None:
    variable, data = store_value(hurried)
    client = begin(hurried, f"/v1/values/{variable}")
    hurried.await_log('"not read": 1')
    came = 0
    with client:
        try:
            while block := client.recv(1 << 20):
                came += len(block)
        except ConnectionResetError:
            pass
    assert came < len(data)


async def test_a_budget_is_held_in_turn() -> None:
    budget, order = Budget(10), []

    async def use(name: str, size: int) -> None:
        async with budget.hold(size):
            order.append(name)
            await asyncio.sleep(0)

    async with budget.hold(6):
        tasks = [asyncio.create_task(use(name, size)) for name, size in (("all", 100), ("small", 1))]
        await asyncio.sleep(0.01)
        assert order == []
        tasks[0].cancel()
        await asyncio.sleep(0.01)
        assert order == ["small"]
    await asyncio.gather(*tasks, return_exceptions=True)
    async with budget.hold(10):
        pass


async def test_readers_of_one_value_share_a_file() -> None:
    copies, reads = Copies(1000), []

    async def read(data: bytes) -> bytes:
        reads.append(data)
        await asyncio.sleep(0.01)
        return data

    async def look() -> Any:
        async with copies.open("a", 900, partial(read, b"a" * 900)) as file:
            await asyncio.sleep(0.05)
            return file.fileno()

    first, *others = (asyncio.create_task(look()) for _ in range(5))
    await asyncio.sleep(0)
    first.cancel()
    assert len(set(await asyncio.gather(*others))) == 1
    assert (len(reads), copies.waiting_bytes) == (1, 0)
    async with copies.open("a", 900, partial(read, b"a" * 900)):
        with pytest.raises(StoreError, match="900 bytes"):
            async with copies.open("b", 200, partial(read, b"b" * 200)):
                pass
    async with copies.open("b", 200, partial(read, b"b" * 200)) as file:
        assert file.fileno() > 0
    assert len(reads) == 3


async def test_an_answer_that_can_not_be_read_leaves_nothing() -> None:
    copies = Copies(1000)

    async def fail() -> bytes:
        raise StoreError("the store is away")

    for _ in range(2):
        with pytest.raises(StoreError, match="is away"):
            async with copies.open("a", 900, fail):
                pass
    assert copies.waiting_bytes == 0
