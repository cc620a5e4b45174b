"""Clients that ask for large answers and read nothing of them."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from api.auth.browsers import COOKIE
from tests.hostile.conftest import CHAIN, PROJECT, Hostile
from tests.hostile.lag import ALLOWED_SECONDS

CLIENTS, OPERATIONS, WAIT_SECONDS = 30, 20, 5.0


@pytest.fixture
def held() -> Iterator[ExitStack]:
    """What stays open until the memory was measured."""
    with ExitStack() as stack:
        yield stack


def _document(hostile: Hostile) -> str:
    """A question with an answer of megabytes."""
    names = " ".join(f"a{number}: attributes" for number in range(8))
    lineage = f"lineage(maxNodes: {CHAIN}) {{ nodes {{ id {names} }} }}"
    return f'{{ project {{ variable(reference: "{hostile.last}") {{ {lineage} }} }} }}'


def _open(hostile: Hostile) -> socket.socket:
    address = urlsplit(hostile.server.url)
    opened = socket.create_connection((str(address.hostname), address.port or 0), timeout=30)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    return opened


def _check(hostile: Hostile, held: ExitStack, attack: Callable[[], None]) -> None:
    def begin() -> None:
        held.close()
        attack()
        time.sleep(WAIT_SECONDS)

    assert hostile.watch.check(begin, ALLOWED_SECONDS) is None


def test_answers_to_questions(hostile: Hostile, held: ExitStack) -> None:
    body = json.dumps({"query": _document(hostile)}).encode()
    with hostile.client("reader") as client:
        answer = client.post("/graphql", content=body, headers={"Content-Type": "application/json"})
    assert len(answer.content) > 8 << 20
    assert len(answer.json()["data"]["project"]["variable"]["lineage"]["nodes"]) == CHAIN
    head = (
        f"POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {hostile.server.key('reader', PROJECT)}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()

    def ask() -> None:
        for _ in range(CLIENTS):
            held.enter_context(_open(hostile)).sendall(head + body)

    _check(hostile, held, ask)


def test_answers_on_websockets(hostile: Hostile, held: ExitStack) -> None:
    key, document = hostile.server.key("reader", PROJECT), _document(hostile)

    def opened() -> ClientConnection:
        address = hostile.server.url.replace("http", "ws", 1) + "/graphql"
        return connect(
            address, sock=_open(hostile), subprotocols=[Subprotocol("graphql-transport-ws")], max_queue=1, max_size=None
        )

    def ask() -> None:
        for _ in range(5):
            client = held.enter_context(opened())
            client.send(json.dumps({"type": "connection_init", "payload": {"authorization": f"Bearer {key}"}}))
            assert json.loads(client.recv())["type"] == "connection_ack"
            for number in range(OPERATIONS):
                message = {"type": "subscribe", "id": str(number), "payload": {"query": document}}
                client.send(json.dumps(message))

    _check(hostile, held, ask)


def test_a_client_that_reads_gets_all_answers_on_a_websocket(hostile: Hostile) -> None:
    key, document = hostile.server.key("reader", PROJECT), _document(hostile)
    address = hostile.server.url.replace("http", "ws", 1) + "/graphql"
    with connect(address, subprotocols=[Subprotocol("graphql-transport-ws")], max_size=None) as client:
        client.send(json.dumps({"type": "connection_init", "payload": {"authorization": f"Bearer {key}"}}))
        assert json.loads(client.recv())["type"] == "connection_ack"
        for number in range(5):
            payload = {"query": document if number % 2 else "{ viewer { actor } }"}
            client.send(json.dumps({"type": "subscribe", "id": str(number), "payload": payload}))
        found = [json.loads(client.recv(timeout=60)) for _ in range(10)]
    assert sorted(one["id"] for one in found if one["type"] == "next") == list("01234")
    assert sorted(one["id"] for one in found if one["type"] == "complete") == list("01234")
    assert all("errors" not in one["payload"] for one in found if one["type"] == "next")


def _head(hostile: Hostile, path: str) -> bytes:
    return (
        f"GET {path} HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\n"
        f"Cookie: {COOKIE}={hostile.server.key('reader', PROJECT)}\r\n\r\n"
    ).encode()


def test_the_saved_list_of_failures(hostile: Hostile, held: ExitStack) -> None:
    path = f"/ui/projects/{PROJECT}/failures/saved"
    with hostile.client(None) as client:
        whole = client.get(path, headers=hostile.page_headers())
    lines = whole.text.splitlines()
    assert len(lines) >= len(hostile.failures)
    assert {json.loads(line)["id"] for line in lines} >= {failure.id for failure in hostile.failures.values()}

    def ask() -> None:
        for _ in range(2 * CLIENTS):
            held.enter_context(_open(hostile)).sendall(_head(hostile, path))

    _check(hostile, held, ask)


def test_the_page_of_failures(hostile: Hostile, held: ExitStack) -> None:
    path = f"/ui/projects/{PROJECT}/failures"
    with hostile.client(None) as client:
        assert f"{path}/saved" in client.get(path, headers=hostile.page_headers()).text

    def ask() -> None:
        for _ in range(2 * CLIENTS):
            held.enter_context(_open(hostile)).sendall(_head(hostile, path))

    _check(hostile, held, ask)
