"""The command: starting, printing the address, refusing bad settings, and an orderly stop."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from api.settings.loading import open_store
from schema.errors import StoreError
from store.neo4j import connection
from tests.neo4j_server import Neo4jServer
from tests.server.running import ROOT, START_SECONDS, Place, neo4j_place, running, sqlite_place

SAMPLE = ROOT / "examples" / "sample" / "assistant.json"


def test_a_new_store_is_made(tmp_path: Path) -> None:
    with running(sqlite_place(tmp_path), tmp_path) as server:
        assert httpx.get(f"{server.url}/readyz", timeout=300).status_code == 200
        assert (tmp_path / "server.db").exists()
        assert server.stop() == 0
        assert server.said == ""


def test_a_taken_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = sqlite_place(tmp_path).memtrace("serve", "--port", str(port))
    assert done.returncode == 2
    assert done.stderr == f"error: --port: 127.0.0.1:{port} can't be listened on: Address already in use\n"
    assert not list(tmp_path.iterdir())


def test_an_address_of_another_machine(tmp_path: Path) -> None:
    done = sqlite_place(tmp_path).memtrace("serve", "--port", "0", "--host", "192.0.2.1")
    assert done.returncode == 2
    assert done.stderr.startswith("error: --port: 192.0.2.1:0 can't be listened on")


def test_a_store_that_cannot_be_reached(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    place = Place(f"bolt://127.0.0.1:{port}", {"MEMTRACE_NEO4J_PASSWORD": "open-sesame"})
    done = place.memtrace("serve", "--port", "0")
    assert done.returncode == 5
    assert done.stderr.startswith("error: ")
    assert "can't be reached" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "sesame" not in done.stderr + done.stdout


def test_a_store_that_cannot_be_used(tmp_path: Path) -> None:
    done = Place(f"sqlite:///{tmp_path / 'nowhere' / 'x.db'}").memtrace("serve", "--port", "0")
    assert (done.returncode, done.stderr.count("\n")) == (5, 1)
    (tmp_path / "server.db").write_bytes(b"this is no database" * 100)
    broken = sqlite_place(tmp_path).memtrace("serve", "--port", "0")
    assert (broken.returncode, broken.stderr.count("\n")) == (5, 1)


@pytest.mark.full
def test_a_journal_that_is_damaged(tmp_path: Path) -> None:
    place, journal = sqlite_place(tmp_path), tmp_path / "server.db-queue"
    with running(place, tmp_path, job_concurrency=0) as server:
        assert server.stop() == 0
    whole = bytearray(journal.read_bytes())
    journal.write_bytes(b"this is no journal" * 500)
    none = place.memtrace("serve", "--port", "0")
    assert (none.returncode, none.stderr) == (5, f"error: {journal}: the file is not a SQLite database\n")
    for start in range(4096, len(whole), 4096):
        whole[start : start + 64] = b"\xff" * 64
    journal.write_bytes(whole)
    damaged = place.memtrace("serve", "--port", "0")
    assert (damaged.returncode, damaged.stderr) == (5, f"error: {journal}: the file is damaged\n")
    assert "Traceback" not in none.stdout + damaged.stdout


def test_a_broker_that_is_away(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    done = sqlite_place(tmp_path).memtrace("serve", "--port", "0", nats=f"nats://127.0.0.1:{port}")
    assert done.returncode == 5
    assert done.stderr.startswith(f"error: NATS at nats://127.0.0.1:{port} can't be reached")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stdout


@pytest.mark.neo4j
async def test_an_old_layout(neo4j_server: Neo4jServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = connection.layout_number()
    monkeypatch.setattr(connection, "layout_number", lambda: newest + 1)
    with pytest.raises(StoreError, match=r"run `memtrace migrate`"):
        await open_store(neo4j_place(neo4j_server, tmp_path).settings())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_is_under_way_is_finished(tmp_path: Path, number: signal.Signals) -> None:
    text = SAMPLE.read_bytes()
    begun, told = threading.Event(), threading.Event()
    answers: list[httpx.Response] = []

    def slowly() -> Iterator[bytes]:
        yield text[:1000]
        begun.set()
        assert told.wait(300)
        yield text[1000:]

    with running(sqlite_place(tmp_path), tmp_path, job_concurrency=0) as server:
        client = server.client("writer")

        def upload() -> None:
            answers.append(client.post("/v1/import", params={"name": "assistant.json"}, content=slowly()))

        thread = threading.Thread(target=upload)
        thread.start()
        assert begun.wait(300)
        # Sent is not received: the server has the request when its file is begun.
        deadline = time.monotonic() + START_SECONDS
        while not list(tmp_path.rglob("*.part")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        server.process.send_signal(number)
        server.await_log("Shutting down")
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{server.url}/healthz", timeout=300)
        told.set()
        thread.join()
        client.close()
        assert server.wait() == 0
    assert [answer.status_code for answer in answers] == [202]


@pytest.mark.full
def test_what_takes_longer_than_the_server_waits_is_told_so(tmp_path: Path) -> None:
    head = ["POST /v1/events HTTP/1.1", "Host: memtrace", "Content-Type: application/x-ndjson", "Content-Length: 10"]
    with running(sqlite_place(tmp_path), tmp_path, job_concurrency=0, shutdown_seconds=1) as server:
        head += [f"Authorization: Bearer {server.key('writer')}", "Expect: 100-continue", "", ""]
        with socket.create_connection(("127.0.0.1", httpx.URL(server.url).port), timeout=60) as client:
            client.sendall("\r\n".join(head).encode())
            assert client.recv(1000).startswith(b"HTTP/1.1 100 ")
            server.process.send_signal(signal.SIGTERM)
            answer = client.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"the server is being stopped" in answer
        assert server.wait() == 0
        assert "Exception in ASGI application" not in server.log_text
        server.await_log("not answered before the server ended")


@pytest.mark.full
def test_settings_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "memtrace.toml"
    path.write_text('log_format = "text"\nmax_body_bytes = 2048\njob_concurrency = 0\n', "utf-8")
    with running(sqlite_place(tmp_path), tmp_path, config=path) as server:
        with server.client() as client:
            assert client.post("/graphql", json={"query": "x" * 4096}).status_code == 413
        server.await_log("event=request")


@pytest.mark.full
def test_the_address_of_ipv6(tmp_path: Path) -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with running(sqlite_place(tmp_path), tmp_path, host="::1", job_concurrency=0) as server:
        assert server.url.startswith("http://[::1]:")
        assert httpx.get(f"{server.url}/healthz", timeout=300).status_code == 200
