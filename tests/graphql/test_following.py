"""The access of a follower is checked equally often, whether the followed thing changes all the time or never."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from api.auth.keys import make_key
from api.auth.verify import Verifier
from api.errors import RateLimitedError, UnauthenticatedError
from schema.control import Role
from schema.ids import trace_id
from store.open import open_database
from tests.graphql.world import World
from tests.server.wire_events import lines, message, send

pytestmark = pytest.mark.one_engine

_GROWTH = "subscription($p: String!, $id: ID!) { traceGrowth(project: $p, id: $id) { variables } }"
_CREATE = 'mutation($p: String!) { createKey(project: $p, name: "n") { ... on KeyCreated { secret key { id } } } }'
_REVOKE = "mutation($p: String!, $id: ID!) { revokeKey(project: $p, id: $id) { __typename } }"
_MOST_UPDATES = 25
"""The server looks at a trace twice a second: so many updates are more than twelve seconds."""


async def _socket(world: World, token: str) -> ClientConnection:
    protocols: Any = ["graphql-transport-ws"]
    socket = await connect(f"{world.server.url.replace('http', 'ws', 1)}/graphql", subprotocols=protocols)
    await socket.send(json.dumps({"type": "connection_init", "payload": {"authorization": f"Bearer {token}"}}))
    assert json.loads(await socket.recv())["type"] == "connection_ack"
    return socket


async def test_a_revoked_key_ends_what_changes_all_the_time(world: World) -> None:
    trace = f"busy-{token_hex(4)}"
    await asyncio.to_thread(send, world.server, lines(message(trace, "first")), project=world.project)
    key = (await asyncio.to_thread(world.ask, _CREATE, {"p": world.project}, "admin"))["createKey"]
    id_ = trace_id(world.project, trace)
    look = "query($p: String!, $id: String!) { project(name: $p) { trace(reference: $id) { id } } }"
    while (await asyncio.to_thread(world.ask, look, {"p": world.project, "id": id_}))["project"]["trace"] is None:
        await asyncio.sleep(0.05)

    async def grow() -> None:
        number = 0
        while True:
            number += 1
            body = lines(message(trace, f"more-{number}"))
            await asyncio.to_thread(send, world.server, body, project=world.project)
            await asyncio.sleep(0.1)

    growing = asyncio.create_task(grow())
    try:
        async with await _socket(world, key["secret"]) as socket:
            payload = {"query": _GROWTH, "variables": {"p": world.project, "id": id_}}
            await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": payload}))
            for _ in range(3):
                assert "errors" not in json.loads(await asyncio.wait_for(socket.recv(), 60))["payload"]
            await asyncio.to_thread(world.ask, _REVOKE, {"p": world.project, "id": key["key"]["id"]}, "admin")
            for _ in range(_MOST_UPDATES):
                told = json.loads(await asyncio.wait_for(socket.recv(), 60))
                if told["payload"].get("errors"):
                    break
            assert told["payload"]["errors"][0]["extensions"] == {"code": "UNAUTHENTICATED"}
            assert json.loads(await asyncio.wait_for(socket.recv(), 60)) == {"id": "1", "type": "complete"}
    finally:
        growing.cancel()
        with suppress(asyncio.CancelledError):
            await growing


async def test_to_look_who_follows_is_no_request(tmp_path: Path) -> None:
    text, key = make_key("project", "", Role.READER, "test", datetime.now(UTC))
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}") as database:
        await database.records("project").add_key(key)
        verifier = Verifier(database.registry(), "2/minute")
        for _ in range(10):
            assert (await verifier.recheck(f"Bearer {text}")).actor == f"key:{key.id}"
        for _ in range(2):
            await verifier.verify(f"Bearer {text}")
        with pytest.raises(RateLimitedError):
            await verifier.verify(f"Bearer {text}")
        await verifier.recheck(f"Bearer {text}")
        for nobody in (None, "Bearer x", f"Bearer {text[:-2]}"):
            with pytest.raises(UnauthenticatedError):
                await verifier.recheck(nobody)
        await verifier.stop()
