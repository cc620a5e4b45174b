"""Settings of GraphQL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graphql import get_introspection_query
from websockets.asyncio.client import connect

from api.graphql.trusted import hash_of
from tests.server.running import RunningServer, running, sqlite_place

TRUSTED = "query Names { projects { name } }"


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that runs trusted documents only, and does not describe itself."""
    folder: Path = tmp_path_factory.mktemp("locked")
    (folder / "trusted.json").write_text(
        json.dumps({hash_of(text): text for text in (TRUSTED, get_introspection_query())}), "utf-8"
    )
    settings = {
        "introspection": "false",
        "trusted_documents": folder / "trusted.json",
        "trusted_documents_only": "true",
        "rate_limit": "1000000/minute",
    }
    with running(sqlite_place(folder), folder, **settings) as server:
        yield server


def test_a_trusted_document_runs_by_its_text_and_by_its_hash(locked: RunningServer) -> None:
    persisted = {"persistedQuery": {"version": 1, "sha256Hash": hash_of(TRUSTED)}}
    with locked.client() as client:
        by_text = client.post("/graphql", json={"query": TRUSTED}).json()
        by_hash = client.post("/graphql", json={"extensions": persisted}).json()
    assert by_text == by_hash == {"data": {"projects": [{"name": locked.project}]}}


def test_no_other_document_runs(locked: RunningServer) -> None:
    unknown = {"persistedQuery": {"version": 1, "sha256Hash": hash_of("{ projects { name } }")}}
    with locked.client("admin") as client:
        answer = client.post("/graphql", json={"query": "{ projects { name } }"}).json()
        assert answer["errors"][0]["extensions"]["code"] == "UNTRUSTED"
        refused = client.post("/graphql", json={"extensions": unknown})
        assert refused.status_code == 400
        assert "no document with this hash" in refused.json()["detail"]


async def test_websockets_tell_what_is_not_trusted_and_take_hashes_too(locked: RunningServer) -> None:
    persisted = {"persistedQuery": {"version": 1, "sha256Hash": hash_of(TRUSTED)}}
    protocols: Any = ["graphql-transport-ws"]
    async with connect(f"{locked.url.replace('http', 'ws', 1)}/graphql", subprotocols=protocols) as socket:
        greeting = {"authorization": f"Bearer {locked.key('admin')}"}
        await socket.send(json.dumps({"type": "connection_init", "payload": greeting}))
        assert json.loads(await socket.recv())["type"] == "connection_ack"
        told = {}
        for name, payload in {
            "other": {"query": "{ projects { name } }"},
            "unknown": {"extensions": {"persistedQuery": {"sha256Hash": "0" * 64}}},
            "text": {"query": TRUSTED},
            "hash": {"extensions": persisted},
        }.items():
            await socket.send(json.dumps({"type": "subscribe", "id": name, "payload": payload}))
            told[name] = json.loads(await asyncio.wait_for(socket.recv(), 60))
            if told[name]["type"] == "next":
                assert json.loads(await asyncio.wait_for(socket.recv(), 60)) == {"id": name, "type": "complete"}
    assert told["other"]["type"] == told["unknown"]["type"] == "error"
    assert told["other"]["payload"][0]["extensions"]["code"] == "UNTRUSTED"
    assert "no document with this hash" in told["unknown"]["payload"][0]["message"]
    assert told["text"]["payload"] == told["hash"]["payload"] == {"data": {"projects": [{"name": locked.project}]}}


def test_introspection_may_be_switched_off(locked: RunningServer) -> None:
    with locked.client() as client:
        answer = client.post("/graphql", json={"query": get_introspection_query()}).json()
    assert answer["data"] is None
    assert "introspection" in answer["errors"][0]["message"]


def test_the_explorer_is_not_shown_where_it_is_not_asked_for(locked: RunningServer) -> None:
    with locked.client() as client:
        assert client.get("/graphql", headers={"Accept": "text/html"}).status_code == 404


def test_nothing_is_asked_by_get(locked: RunningServer) -> None:
    with locked.client() as client:
        response = client.get("/graphql", params={"query": TRUSTED})
    assert response.status_code == 400
    assert "queries are not allowed" in response.json()["detail"]
    assert locked.project not in response.text


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"not json", "application/json"),
        (b"[]", "application/json"),
        (b"{}", "application/json"),
        (b'{"query": 5}', "application/json"),
        (b'{"query": "{ a }", "variables": []}', "application/json"),
        (b'[{"query": "{ projects { name } }"}]', "application/json"),
        (b"query=x", "application/x-www-form-urlencoded"),
        (b"--x--", "multipart/form-data; boundary=x"),
        (b"\xff\xfe", "application/json"),
    ],
)
def test_what_is_no_request_is_a_problem_document(locked: RunningServer, content: bytes, kind: str) -> None:
    with locked.client() as client:
        response = client.post("/graphql", content=content, headers={"Content-Type": kind})
    assert response.status_code in {400, 415}, response.text
    assert response.headers["content-type"].startswith("application/problem+json")
