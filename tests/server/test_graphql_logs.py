"""Mistakes of clients in GraphQL are answered, and their values are not in the log."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.server.running import running, sqlite_place

SECRET = "the-cat-is-called-Mimi"

_MISTAKES: list[dict[str, Any]] = [
    {"query": "{ MINE is no document %"},
    {"query": "{ projects { name } # MINE"},
    {"query": '{ noSuchField(value: "MINE") }'},
    {"query": '{ node(id: "MINE") { id } project(name: "MINE") { name } }'},
    {"query": '{ node(id: ["MINE"]) { id } }', "operationName": "MINE"},
    {"query": "query($a: Int!) { nodes(ids: [$a]) { id } }", "variables": {"a": "MINE"}},
    {"query": 'query($a: Int!) { __type(name: "MINE") { name } }', "variables": {"a": "MINE"}},
    {"query": 'query($a: String!) { __type(name: $a) { name } x: __type(name: "MINE") { name } }'},
    {"query": '{ project { traces(after: "MINE") { nodes { id } } } }'},
    {"query": '{ project { timeline(since: "MINE", until: "MINE") { traces } } }'},
    {
        "query": "query($a: DateTime!) { project { timeline(since: $a, until: $a) { traces } } }",
        "variables": {"a": "MINE"},
    },
    {"query": '{ project { diff(before: "MINE", after: "MINE") { added } variable(reference: "MINE") { id } } }'},
    {"query": '{ project { search(text: "MINE", first: 0) { score } } }'},
    {"query": "{" + "project {" * 50 + 'variable(reference: "MINE") { id }' + "}" * 51},
    {"query": 'mutation { deleteTrace(project: "MINE", id: "MINE") { __typename } }'},
    {
        "query": 'mutation($i: FailureInput!) { recordFailure(project: "p", input: $i) { __typename } }',
        "variables": {"i": {"question": "MINE", "MINE": 1}},
    },
    {"query": 'subscription { traceGrowth(project: "MINE", id: "MINE") { variables } }'},
    {"extensions": {"persistedQuery": {"sha256Hash": "MINE"}}},
    {"query": "MINE", "variables": ["MINE"]},
    {"query": 'query A { node(id: "MINE") { id } } query B { node(id: "MINE") { id } }', "operationName": "C"},
]
"""Requests that a client gets wrong, each with something of its own in the document or in the values."""


@pytest.mark.parametrize(("level", "form"), [("info", "text"), ("debug", "json")])
async def test_mistakes_stay_between_the_client_and_the_server(tmp_path: Path, level: str, form: str) -> None:
    mistakes = json.loads(json.dumps(_MISTAKES).replace("MINE", SECRET))
    with running(sqlite_place(tmp_path), tmp_path, log_level=level, log_format=form) as server:
        with server.client("admin") as client:
            told = [client.post("/graphql", json=mistake).text for mistake in mistakes]
            client.post("/graphql", content=f'"{SECRET}"', headers={"Content-Type": "application/json"})
            client.get("/graphql", params={"query": SECRET})
        url = f"{server.url.replace('http', 'ws', 1)}/graphql"
        protocols: Any = ["graphql-transport-ws"]
        payload = {"authorization": f"Bearer {server.key('admin')}", "comment": SECRET}
        messages = [{"type": "subscribe", "id": "1", "payload": mistake} for mistake in mistakes]
        for message in [*messages, SECRET, {"type": SECRET}, {"type": "subscribe", "id": [SECRET]}]:
            async with connect(url, subprotocols=protocols) as socket:
                await socket.send(json.dumps({"type": "connection_init", "payload": payload}))
                assert json.loads(await socket.recv())["type"] == "connection_ack"
                await socket.send(json.dumps(message))
                with suppress(ConnectionClosed):
                    told.append(str(await asyncio.wait_for(socket.recv(), 60)))
                    assert '"complete"' not in told[-1]
        with suppress(InvalidStatus):
            await connect(url, subprotocols=protocols, origin=f"https://{SECRET}.example")  # type: ignore[arg-type]
        assert server.stop() == 0
        assert not [text for text in told if "INTERNAL" in text]
        # The answer quotes the client's mistake; the log does not.
        assert sum(SECRET in text for text in told) > len(mistakes) / 2
        assert SECRET not in server.log_text + server.said
        assert "Bearer" not in server.log_text
