"""Subscriptions, from beginning to end."""

from __future__ import annotations

import asyncio
import json

import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.graphql.changing import change, judge, withdraw
from tests.graphql.world import World

pytestmark = pytest.mark.usefixtures("nobody_has_judged")


async def _socket(world: World, token: str) -> ClientConnection:
    url = f"{world.server.url.replace('http', 'ws', 1)}/graphql"
    socket = await connect(url, subprotocols=["graphql-transport-ws"])  # type: ignore[list-item]
    await socket.send(json.dumps({"type": "connection_init", "payload": {"authorization": f"Bearer {token}"}}))
    assert json.loads(await socket.recv())["type"] == "connection_ack"
    return socket


_GROWTH = "subscription($p: String!, $id: ID!) { traceGrowth(project: $p, id: $id) { failures attributions } }"


async def _follow(world: World, socket: ClientConnection, name: str = "1") -> None:
    payload = {"query": _GROWTH, "variables": {"p": world.project, "id": world.ids["trace"]}}
    await socket.send(json.dumps({"type": "subscribe", "id": name, "payload": payload}))


async def test_a_trace_is_seen_to_grow(world: World) -> None:
    socket = await _socket(world, world.server.key("reader", world.project))
    async with socket:
        await _follow(world, socket)
        before = json.loads(await socket.recv())["payload"]["data"]["traceGrowth"]
        made = await asyncio.to_thread(judge, world, "admin", failure=world.ids["failure"])
        after = json.loads(await asyncio.wait_for(socket.recv(), 30))["payload"]["data"]["traceGrowth"]
        assert after["attributions"] == before["attributions"] + 1
    await asyncio.to_thread(withdraw, world, made["attribution"]["id"], "admin")


async def test_a_revoked_key_ends_its_subscriptions(world: World) -> None:
    create = 'mutation($p: String!) { createKey(project: $p, name: "n") { ... on KeyCreated { secret key { id } } } }'
    made = change(world, create, {}, "admin")
    socket = await _socket(world, made["secret"])
    async with socket:
        await _follow(world, socket)
        assert json.loads(await socket.recv())["type"] == "next"
        revoke = "mutation($p: String!, $id: ID!) { revokeKey(project: $p, id: $id) { __typename } }"
        await asyncio.to_thread(change, world, revoke, {"id": made["key"]["id"]}, "admin")
        while (message := json.loads(await asyncio.wait_for(socket.recv(), 60)))["type"] == "next":
            if message["payload"].get("errors"):
                break
        assert "UNAUTHENTICATED" in json.dumps(message)


@pytest.mark.one_engine
async def test_operations_of_one_socket_are_bounded(world: World) -> None:
    socket = await _socket(world, world.server.key("reader", world.project))
    async with socket:
        for number in range(40):
            await _follow(world, socket, str(number))
        kinds = [json.loads(await asyncio.wait_for(socket.recv(), 30)) for _ in range(40)]
        refused = [message for message in kinds if message["type"] == "error"]
        assert len(refused) == 20
        assert [message["payload"][0]["extensions"] for message in refused] == [{"code": "LIMIT", "limit": 20}] * 20


@pytest.mark.one_engine
async def test_the_legacy_protocol_is_not_spoken(world: World) -> None:
    url = f"{world.server.url.replace('http', 'ws', 1)}/graphql"
    async with connect(url, subprotocols=["graphql-ws"]) as socket:  # type: ignore[list-item]
        await asyncio.wait_for(socket.wait_closed(), 30)
        assert socket.close_code == 4406


@pytest.mark.one_engine
async def test_a_page_of_another_origin_gets_no_socket(world: World) -> None:
    from websockets.exceptions import InvalidStatus

    url = f"{world.server.url.replace('http', 'ws', 1)}/graphql"
    with pytest.raises(InvalidStatus) as refused:
        await connect(url, subprotocols=["graphql-transport-ws"], origin="https://elsewhere.example")  # type: ignore[list-item, arg-type]
    assert refused.value.response.status_code == 403
