"""Websockets of hostile or slow clients."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.graphql.world import World

pytestmark = pytest.mark.one_engine

_MOST = 50


async def _open(world: World, token: str | None, close_timeout: float = 10.0) -> ClientConnection:
    url = f"{world.server.url.replace('http', 'ws', 1)}/graphql"
    protocols: Any = ["graphql-transport-ws"]
    socket = await connect(url, subprotocols=protocols, open_timeout=60, close_timeout=close_timeout)
    if token is not None:
        await socket.send(json.dumps({"type": "connection_init", "payload": {"authorization": f"Bearer {token}"}}))
    return socket


async def _greeting(socket: ClientConnection) -> str:
    try:
        return str(json.loads(await asyncio.wait_for(socket.recv(), 300))["type"])
    except ConnectionClosed as closed:
        return str(closed.rcvd.code if closed.rcvd else None)


async def test_sockets_of_one_principal_are_bounded_and_come_free_again(world: World) -> None:
    key = world.server.place.make_key("reader", world.project)
    sockets = [await _open(world, key) for _ in range(_MOST + 10)]
    try:
        greetings = [await _greeting(socket) for socket in sockets]
        assert greetings.count("connection_ack") == _MOST
        assert greetings.count("4403") == 10
    finally:
        for socket in sockets:
            await socket.close()
    again = await _open(world, key)
    async with again:
        # A socket that is closed by its client counts until the server has seen that.
        async with asyncio.timeout(300):
            while await _greeting(again) != "connection_ack":
                await asyncio.sleep(0.2)
                again = await _open(world, key)


async def test_who_says_nothing_is_sent_away(world: World) -> None:
    async with await _open(world, None) as socket:
        assert await _greeting(socket) == "4408"


async def test_who_is_not_let_in_is_told_why(world: World) -> None:
    """As over HTTP, the reason reveals nothing about a key that its bearer may not know."""

    # In a thread: the command has an event loop of its own.
    made = await asyncio.to_thread(world.server.place.here, "keys", "create", "--json", "--project", world.project)
    revoked = json.loads(made.stdout)
    create = """mutation($p: String!, $e: DateTime!) { createKey(project: $p, name: "n", expiresAt: $e) {
      ... on KeyCreated { secret } } }"""
    soon = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
    expired = world.ask(create, {"p": world.project, "e": soon}, "admin")["createKey"]["secret"]
    done = await asyncio.to_thread(world.server.place.here, "keys", "revoke", revoked["id"], "--project", world.project)
    assert done.returncode == 0
    wrong = f"{revoked['key'][:-4]}aaaa"
    reasons = {
        revoked["key"]: "this API key is revoked",
        wrong: "this API key is unknown",
        f"mt_{'0' * 16}_{'a' * 43}": "this API key is unknown",
        expired: "this API key has expired",
    }
    async with asyncio.timeout(300):
        while (await _refused(world, expired)) is None:
            await asyncio.sleep(0.2)
    with world.server.client(None) as client:
        for token, reason in reasons.items():
            assert await _refused(world, token) == (4403, reason)
            answer = client.get("/v1/export/x", headers={"Authorization": f"Bearer {token}"})
            assert (answer.status_code, answer.json()["detail"]) == (401, reason)
    code, reason = await _refused(world, "nonsense") or (0, "")
    assert code == 4403
    assert reason == ("a valid API key or token is needed: a key is 63 characters that begin with mt_; 8 were sent")


async def _refused(world: World, token: str) -> tuple[int, str] | None:
    """Code and reason of a closed socket; None if the client is accepted."""
    async with await _open(world, token) as socket:
        try:
            assert json.loads(await asyncio.wait_for(socket.recv(), 300))["type"] == "connection_ack"
        except ConnectionClosed as closed:
            return (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (0, "without a word")
    return None


async def test_nothing_is_asked_before_it_is_known_who_asks(world: World) -> None:
    async with await _open(world, None) as socket:
        await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": "{ projects { name } }"}}))
        assert await _greeting(socket) == "4401"


@pytest.mark.parametrize(
    ("message", "code"), [("not json", "4400"), ('{"type": "nonsense"}', "4400"), ('"x" ' + "x" * 100_000, "1009")]
)
async def test_what_is_no_message_ends_the_socket(world: World, message: str, code: str) -> None:
    async with await _open(world, world.server.key("reader", world.project)) as socket:
        assert await _greeting(socket) == "connection_ack"
        await socket.send(message)
        assert await _greeting(socket) == code


async def test_who_does_not_read_keeps_nobody_waiting(world: World) -> None:
    """Twenty large answers for a client that reads nothing."""
    document = """query($p: String!) { project(name: $p) { traces { nodes {
      variables(first: 500) { nodes { id name preview attributes externalId location comment } } } } } }"""
    # Unread answers come before the server's close frame, for which a client waits at its end.
    async with await _open(world, world.server.key("reader", world.project), close_timeout=0.1) as socket:
        assert await _greeting(socket) == "connection_ack"
        socket.transport.pause_reading()
        for number in range(20):
            payload = {"query": document, "variables": {"p": world.project}}
            await socket.send(json.dumps({"type": "subscribe", "id": str(number), "payload": payload}))
        answer = await asyncio.to_thread(world.ask, "{ viewer { actor } }")
        assert answer["viewer"]["actor"]
        socket.transport.resume_reading()


async def test_queries_run_over_a_socket_too(world: World) -> None:
    async with await _open(world, world.server.key("reader", world.project)) as socket:
        assert await _greeting(socket) == "connection_ack"
        dear = "{ project { traces(first: 500) { nodes { operations(first: 500) { nodes { id } } } } } }"
        for document in ("{ project { name } }", dear):
            await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": document}}))
            message = json.loads(await asyncio.wait_for(socket.recv(), 300))
            if message["type"] == "next":
                assert message["payload"]["data"]["project"]["name"] == world.project
                assert json.loads(await asyncio.wait_for(socket.recv(), 300))["type"] == "complete"
            else:
                assert message["payload"][0]["extensions"]["code"] == "LIMIT"
