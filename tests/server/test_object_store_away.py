"""Values in object storage that is away, hangs or is full: reads soon end with 503, and no accepted event is lost."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from secrets import token_hex

import httpx
import pytest

from tests.object_store import ObjectServer
from tests.server.forwarder import Forwarder
from tests.server.running import RunningServer, running, sqlite_place
from tests.server.wire_events import LINES, lines, message

PROJECT = "default"
SOON_SECONDS = 15.0
"""A read ends after about 4 seconds on a quiet machine; without a limit of its own, after 30."""

_FULL = b"HTTP/1.1 507 Insufficient Storage\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Storage(Forwarder):
    """The way to the storage, which may be closed, hang, or answer that the storage is full."""

    state = "works"

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                near, _ = listening.accept()
            except OSError:
                return
            self._streams.add(near)
            if self.state == "full":
                with contextlib.suppress(OSError):
                    near.recv(65_536)
                    near.sendall(_FULL)
                self._end(near)
            elif self.state == "works":
                far = socket.create_connection(self._target)
                self._streams.add(far)
                self._start(self._pump, near, far)
                self._start(self._pump, far, near)

    def become(self, state: str) -> None:
        """Change how the storage answers; connections that are open end."""
        with contextlib.suppress(OSError):
            self.close()
        self.state = state
        if state != "away":
            self.open()


@pytest.fixture(scope="module")
def storage(object_store: ObjectServer) -> Iterator[Storage]:
    with Storage(object_store.endpoint) as way:
        yield way


@pytest.fixture(scope="module")
def stored(
    object_store: ObjectServer, storage: Storage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """A server whose values are in the storage."""
    folder = tmp_path_factory.mktemp("away")
    place = sqlite_place(folder)
    settings = object_store.settings(object_store.owner) | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{storage.port}"}
    settings["MEMTRACE_VALUES"] = object_store.uri()
    place = replace(place, environment={**place.environment, **settings})
    with running(place, folder, uploads=f"file://{folder}/uploads") as server:
        yield server


def _text(word: str) -> str:
    return f"{word} " * 2_000


def _send(client: httpx.Client, trace: str, *words: str) -> None:
    body = lines(*(message(trace, word, _text(word)) for word in words))
    answer = client.post("/v1/events", content=body, headers={"Content-Type": LINES})
    assert answer.status_code == 200, answer.text
    assert answer.json()["accepted"] == len(words), answer.text


def _read(client: httpx.Client, trace: str, word: str) -> httpx.Response:
    document = "query($t: String!, $w: String!) { project { variable(reference: $w, trace: $t) { id } } }"
    answer = client.post("/graphql", json={"query": document, "variables": {"t": trace, "w": word}}).json()
    found = answer["data"]["project"]["variable"]
    return httpx.Response(404) if found is None else client.get(f"/v1/values/{found['id']}")


def _await_all(client: httpx.Client, trace: str, *words: str) -> None:
    deadline = time.monotonic() + 120
    for word in words:
        while (answer := _read(client, trace, word)).status_code != 200:
            assert time.monotonic() < deadline, (word, answer.status_code, answer.text)
            time.sleep(0.2)
        assert answer.text == _text(word)


@pytest.mark.parametrize("state", ["away", "hangs", "full"])
def test_reads_end_soon_and_no_event_is_lost(stored: RunningServer, storage: Storage, state: str) -> None:
    before, during = f"before-{token_hex(4)}", f"during-{token_hex(4)}"
    with stored.client("writer", PROJECT) as client:
        _send(client, before, "apple", "pear")
        _await_all(client, before, "apple")
        _send(client, f"{before}-other", "quince")  # nobody has read it: it is in no memory of the server
        _await_written(client, f"{before}-other", "quince")
        storage.become(state)
        try:
            began = time.monotonic()
            answer = _read(client, f"{before}-other", "quince")
            took = time.monotonic() - began
            assert (answer.status_code, took < SOON_SECONDS) == (503, True), (answer.text, took)
            assert "try again" in answer.json()["detail"] or "storage" in answer.json()["detail"]
            _send(client, during, "plum", "cherry")
            assert client.get("/healthz").status_code == 200
        finally:
            storage.become("works")
        _await_all(client, during, "plum", "cherry")
        _await_all(client, f"{before}-other", "quince")


def _await_written(client: httpx.Client, trace: str, word: str) -> None:
    document = "query($t: String!, $w: String!) { project { variable(reference: $w, trace: $t) { id } } }"
    deadline = time.monotonic() + 120
    while True:
        answer = client.post("/graphql", json={"query": document, "variables": {"t": trace, "w": word}}).json()
        if answer.get("data") and answer["data"]["project"]["variable"]:
            return
        assert time.monotonic() < deadline, answer
        time.sleep(0.1)
