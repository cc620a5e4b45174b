"""Hostile bodies to each door, with a key and without one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.hostile.conftest import PROJECT, Hostile
from tests.hostile.lag import ALLOWED_SECONDS, REFUSED_SECONDS
from tests.hostile.payloads import PAYLOADS

SMALL, LARGE = 60_000, 1_000_000
_EXPECTED = {503, 504, 507}
"""Statuses from 500 that say what the server can't do at the moment."""

_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
_QUEUE = f"/ui/projects/{PROJECT}/queues/0123456789abcdef0123456789abcdef"
DOORS: dict[str, tuple[str, str, int]] = {
    "GraphQL": ("/graphql", _JSON, LARGE),
    "events": ("/v1/events", "application/x-ndjson", LARGE),
    "events as a list": ("/v1/events", _JSON, LARGE),
    "spans in JSON": ("/v1/traces", _JSON, LARGE),
    "spans in protobuf": ("/v1/traces", "application/x-protobuf", LARGE),
    "an upload": ("/v1/import?name=a.json", "application/octet-stream", LARGE),
    "attributions": ("/v1/attributions", _JSON, LARGE),
    "reports": ("/v1/reports", _JSON, LARGE),
    "the page of labels": (f"{_QUEUE}/import", "multipart/form-data; boundary=x", LARGE),
    "the page of a verdict": (f"/ui/projects/{PROJECT}/failures/x/verdict", _FORM, LARGE),
    "the sign-in": ("/ui/sign-in", _FORM, SMALL),
}


Attacks = dict[str, tuple[Callable[[], object], float]]


def _checked(hostile: Hostile, attacks: Attacks) -> None:
    problems = {name: hostile.watch.check(attack, limit) for name, (attack, limit) in attacks.items()}
    assert not {name: problem for name, problem in problems.items() if problem is not None}


@pytest.mark.parametrize("has_key", [False, True], ids=["without a key", "with a key"])
@pytest.mark.parametrize("door", DOORS)
def test_a_body_is_refused_or_read_beside_others(hostile: Hostile, door: str, has_key: bool) -> None:
    path, kind, size = DOORS[door]
    is_page = path.startswith("/ui/")
    with hostile.client("admin" if has_key and not is_page else None) as client:

        def send(body: bytes) -> httpx.Response:
            headers = {"Content-Type": kind} | (hostile.page_headers() if is_page and has_key else {})
            return client.post(path, content=body, headers=headers)

        statuses = {name: send(make(size)).status_code for name, make in PAYLOADS.items()}
        assert not {name: code for name, code in statuses.items() if code >= 500 and code not in _EXPECTED}
        attacks: Attacks = {}
        for name, make in PAYLOADS.items():
            limit = REFUSED_SECONDS if statuses[name] >= 400 else ALLOWED_SECONDS
            attacks[f"{name} ({statuses[name]})"] = partial(send, make(size)), limit
        _checked(hostile, attacks)


@pytest.mark.parametrize("place", ["before the first message", "as the first message", "as variables"])
def test_a_message_of_a_websocket(hostile: Hostile, place: str) -> None:
    url = f"{hostile.server.url.replace('http', 'ws', 1)}/graphql"
    protocols: Any = ["graphql-transport-ws"]
    token = f"Bearer {hostile.server.key('reader', PROJECT)}"

    async def send(text: str) -> None:
        with suppress(ConnectionClosed):
            async with connect(url, subprotocols=protocols, open_timeout=300, close_timeout=300) as socket:
                if place == "as variables":
                    await socket.send(json.dumps({"type": "connection_init", "payload": {"authorization": token}}))
                    assert json.loads(await socket.recv())["type"] == "connection_ack"
                    query = "query($a: String) { projects { name } }"
                    text = (
                        f'{{"type":"subscribe","id":"1","payload":{{"query":{json.dumps(query)},"variables":{text}}}}}'
                    )
                elif place == "as the first message":
                    text = f'{{"type":"connection_init","payload":{text}}}'
                await socket.send(text)
                async with asyncio.timeout(300):
                    await socket.recv()

    def attack(text: str) -> None:
        asyncio.run(send(text))

    _checked(
        hostile, {name: (partial(attack, make(SMALL).decode()), REFUSED_SECONDS) for name, make in PAYLOADS.items()}
    )


def test_labels_by_graphql(hostile: Hostile) -> None:
    document = (
        "mutation($content: String!) { importLabels(project: "
        f'"{PROJECT}", input: {{content: $content}}) {{ __typename ... on BadInput {{ message }} }} }}'
    )
    with hostile.client() as client:

        def send(text: str) -> None:
            answer = client.post("/graphql", json={"query": document, "variables": {"content": text}})
            assert answer.status_code in {200, 413}, answer.text
            assert "INTERNAL" not in answer.text, answer.text[:500]

        attacks: Attacks = {}
        for name, make in PAYLOADS.items():
            if name not in {"backslashes", "quotes in a string"}:  # they double in JSON
                size = LARGE
                while len(json.dumps(text := make(size).decode())) > LARGE:
                    size //= 2
                attacks[name] = partial(send, text), REFUSED_SECONDS
        _checked(hostile, attacks)
