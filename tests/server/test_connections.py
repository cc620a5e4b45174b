"""Idle and endless connections: their cost, and the time until they are closed."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import uvicorn
from uvicorn.server import ServerState
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from api.http.connection import HEAD_BYTES, LEAST_BODY_BYTES, Patience, PatientConnection, connections_of
from api.http.sockets import Gate, most_connections
from tests.server.running import START_SECONDS, RunningServer, running, sqlite_place

FILES = 1024
SILENT = 1100
SECONDS = 1
LOG_SECONDS = 5
"""Between two lines of the log that say that connections were closed."""
PROTOCOL = Subprotocol("graphql-transport-ws")
HEALTHZ = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
HALF_A_HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-More: "


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that waits a second for anything."""
    folder = tmp_path_factory.mktemp("hurried")
    limits = dict.fromkeys(("header_seconds", "body_seconds", "idle_seconds"), SECONDS)
    with running(sqlite_place(folder), folder, job_concurrency=0, **limits) as server:
        yield server


@contextmanager
def files(soft: int) -> Iterator[None]:
    """Another limit of open files, for this process and for processes that are started meanwhile."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def dial(server: RunningServer, said: bytes = b"", source: str = "127.0.0.1") -> socket.socket:
    """Open a connection and send the bytes."""
    host, port = server.url.removeprefix("http://").split(":")
    client = socket.create_connection((host, int(port)), 60, (source, 0))
    if said:
        client.sendall(said)
    return client


def idle(server: RunningServer, source: str = "127.0.0.1") -> socket.socket:
    """A connection with a finished request and no further request."""
    client = dial(server, HEALTHZ, source)
    said = b""
    while not said.endswith(b'{"status":"ok"}'):
        said += client.recv(65536)
    return client


def is_open(client: socket.socket) -> bool:
    """Whether the server has not closed it yet; it has nothing to say."""
    client.setblocking(False)
    try:
        return client.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


def await_end(client: socket.socket) -> bytes:
    """All that the server says until it closes the connection."""
    said = b""
    try:
        while block := client.recv(65536):
            said += block
    except ConnectionResetError:
        pass
    return said


@pytest.mark.parametrize("said", [b"", HALF_A_HEAD])
def test_silent_connections_keep_nobody_out(tmp_path: Path, said: bytes) -> None:
    most = FILES - 256
    with ExitStack() as open_:
        open_.enter_context(files(FILES))
        server = open_.enter_context(running(sqlite_place(tmp_path), tmp_path, job_concurrency=0))
        open_.enter_context(files(resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        clients, began = [], time.monotonic()
        for _ in range(SILENT):
            clients.append(open_.enter_context(dial(server)))
            if said:
                # A closed connection may raise an error.
                try:
                    clients[-1].sendall(said)
                except ConnectionError:
                    continue
        # Connections of the same address, and of another address.
        for source in ("127.0.0.1", "127.0.0.2"):
            with httpx.Client(transport=httpx.HTTPTransport(local_address=source), timeout=300) as client:
                assert client.get(f"{server.url}/healthz", timeout=30).status_code == 200
        server.await_log("connections were closed early")
        assert sum(map(is_open, clients)) <= most // 2
        assert len(psutil.Process(server.process.pid).net_connections("tcp")) <= most
        assert server.stop() == 0
        lines = [line for line in server.log if line["event"] == "connections were closed early"]
        assert 1 <= len(lines) <= 2 + (time.monotonic() - began) / LOG_SECONDS
        assert len(server.log) - len(lines) < 40


def test_who_is_at_work_is_not_sent_away(tmp_path: Path) -> None:
    limits = {"max_connections": 6, "max_connections_per_address": 3, "header_seconds": 600}
    with running(sqlite_place(tmp_path), tmp_path, job_concurrency=0, **limits) as server, ExitStack() as open_:
        url = f"ws{server.url.removeprefix('http')}/graphql"
        busy = [open_.enter_context(connect(url, subprotocols=[PROTOCOL])) for _ in range(3)]
        known = {"authorization": server.headers()["Authorization"]}
        for one in busy:
            one.send(json.dumps({"type": "connection_init", "payload": known}))
            assert json.loads(one.recv(30))["type"] == "connection_ack"
        for _ in range(5):
            assert await_end(open_.enter_context(dial(server, HALF_A_HEAD))) == b""
        others = [open_.enter_context(idle(server, "127.0.0.2")) for _ in range(3)]
        # At the bound of all connections, the longest waiting connection is closed.
        latest = open_.enter_context(idle(server, "127.0.0.3"))
        assert await_end(others[0]) == b""
        assert [is_open(one) for one in (*others[1:], latest)] == [True] * 3
        assert all(one.ping().wait(300) for one in busy)


def test_a_websocket_that_says_nothing(hurried: RunningServer) -> None:
    url = f"ws{hurried.url.removeprefix('http')}/graphql"
    with connect(url, subprotocols=[PROTOCOL]) as client, pytest.raises(ConnectionClosed) as caught:
        client.recv(START_SECONDS)
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 4408


def test_a_balancer_may_have_all(tmp_path: Path) -> None:
    limits: dict[str, object] = {"max_connections": 6, "max_connections_per_address": 2, "header_seconds": 600}
    limits |= {"trusted_proxies": "127.0.0.2, 10.0.0.0/8"}
    with running(sqlite_place(tmp_path), tmp_path, job_concurrency=0, **limits) as server, ExitStack() as open_:
        proxied = [open_.enter_context(idle(server, "127.0.0.2")) for _ in range(5)]
        direct = [open_.enter_context(idle(server)) for _ in range(3)]
        assert await_end(direct[0]) == b""
        assert sum(map(is_open, (*proxied, *direct))) <= 6
        assert sum(map(is_open, proxied)) >= 3


@pytest.mark.parametrize(
    "said",
    [b"", HALF_A_HEAD, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /h", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"],
    ids=["nothing", "half a head", "half of another head", "no other request"],
)
def test_who_says_no_more(hurried: RunningServer, said: bytes) -> None:
    with dial(hurried, said) as client:
        assert await_end(client).count(b"HTTP/1.1 200") == said.count(b"\r\n\r\n")


def said_while_dripping(client: socket.socket, drop: bytes) -> bytes:
    """The server's bytes until it closes a connection on which single bytes arrive whenever the server is silent."""
    client.settimeout(0.1)
    said = b""
    for _ in range(600):
        try:
            while block := client.recv(65536):
                said += block
        except TimeoutError:
            client.sendall(drop)
        except ConnectionError:
            return said
        else:
            return said
    pytest.fail("the connection is still open")


@pytest.mark.parametrize("drop", [b"\r\n", b"x"], ids=["lines", "head"])
def test_who_says_a_little_now_and_then(hurried: RunningServer, drop: bytes) -> None:
    with dial(hurried, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n") as client:
        assert said_while_dripping(client, drop).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(("is_known", "answer"), [(True, b""), (False, b"HTTP/1.1 401")])
def test_a_body_that_trickles(hurried: RunningServer, is_known: bool, answer: bytes) -> None:
    """The body of an upload that is read, and of an upload that was refused already."""
    key = hurried.key("writer") if is_known else "none"
    head = f"POST /v1/import?name=a.json HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
    with dial(hurried, f"{head}Content-Length: 1000000\r\n\r\n".encode()) as client:
        assert said_while_dripping(client, b" ")[: len(answer) or None] == answer


@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"x" * HEAD_BYTES * 2,
        b"GET / HTTP/1.1\r\nX-Long: " + b"x" * HEAD_BYTES * 2,
        b"GET / HTTP/1.1\r\n" + b"X-Many: x\r\n" * (HEAD_BYTES // 5),
    ],
    ids=["address", "one header", "many headers"],
)
def test_a_head_that_is_too_large(hurried: RunningServer, head: bytes) -> None:
    with dial(hurried, head) as client:
        assert await_end(client).startswith(b"HTTP/1.1 431")


def test_trailers_that_never_end(hurried: RunningServer) -> None:
    head = f"POST /v1/import?name=a.json HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {hurried.key('writer')}\r\n"
    trailers = b"X-More: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n" * 100_000
    start = f"{head}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n".encode()
    with dial(hurried, start) as client, pytest.raises(ConnectionError):
        client.sendall(trailers)
    with hurried.client(None) as others:
        assert others.get("/healthz").status_code == 200


def test_no_file_is_left(tmp_path: Path) -> None:
    """Neither does the log fill, nor does the loop spin."""
    with running(sqlite_place(tmp_path), tmp_path, job_concurrency=0) as server, ExitStack() as open_:
        process = psutil.Process(server.process.pid)
        with server.client(None) as before:
            assert before.get("/healthz").status_code == 200
            hard = process.rlimit(resource.RLIMIT_NOFILE)[1]
            process.rlimit(resource.RLIMIT_NOFILE, (process.num_fds(), hard))
            waiting = [open_.enter_context(dial(server, HEALTHZ)) for _ in range(50)]
            server.await_log("no file left")
            spent = process.cpu_times().user
            for _ in range(20):
                assert before.get("/healthz").status_code == 200
            assert process.cpu_times().user - spent < 5
            process.rlimit(resource.RLIMIT_NOFILE, (hard, hard))
            for client in waiting:
                assert client.recv(12) == b"HTTP/1.1 200"
        assert server.stop() == 0
        assert len([line for line in server.log if line["event"] != "request"]) < 50


def test_the_limit_of_files_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, most in ((64, 32), (1024, 768), (100_000, 10_000), (resource.RLIM_INFINITY, 10_000)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, limit))
        assert most_connections(10_000) == most


class Wire(asyncio.Transport):
    """A transport that holds as much as it is told, and sends nothing."""

    held = 0

    def write(self, data: Any) -> None:
        pass

    def close(self) -> None:
        pass

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name in {"peername", "sockname"} else default

    def get_write_buffer_size(self) -> int:
        return self.held

    def is_closing(self) -> bool:
        return False


@pytest.fixture
async def watched() -> AsyncIterator[tuple[PatientConnection, Wire]]:
    """A connection that is served, without a network."""

    async def app(_scope: Any, _receive: Any, _send: Any) -> None:
        await asyncio.Event().wait()

    kind, state = connections_of(Gate(10, 10), Patience(10, 10, 10, 10)), ServerState()
    made, wire = kind(uvicorn.Config(app, lifespan="off", log_config=None), state, {}), Wire()
    made.connection_made(wire)
    yield made, wire
    for task in state.tasks:
        task.cancel()
    await asyncio.gather(*state.tasks)


async def test_who_reads_slowly_is_patiently_served(watched: tuple[PatientConnection, Wire]) -> None:
    connection, wire = watched
    connection.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    now = asyncio.get_running_loop().time()
    for second in range(0, 200, 9):
        wire.held = 100_000 - second
        assert connection.overdue(now + second) is None
    for second in range(200, 209):
        assert connection.overdue(now + second) is None
    assert connection.overdue(now + 220) == "not read"
    wire.held = 0
    assert connection.overdue(now + 221) is None


async def test_a_body_that_comes_slowly_is_patiently_read(watched: tuple[PatientConnection, Wire]) -> None:
    connection, _ = watched
    connection.data_received(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
    now = asyncio.get_running_loop().time()
    for second in range(11, 200, 11):
        connection.data_received(b"x" * LEAST_BODY_BYTES)
        assert connection.overdue(now + second) is None
    connection.data_received(b"x" * (LEAST_BODY_BYTES - 1))
    assert connection.overdue(now + 220) == "slow body"
