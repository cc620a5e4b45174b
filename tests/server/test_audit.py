"""Writes of clients that don't wait: every change is in the audit log."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import apsw
import pytest
from websockets.asyncio.client import connect

from api.settings.loading import open_databases
from schema.models import Trace
from store.contract.answers import Label
from tests.contract.samples import assistant
from tests.server.running import RunningServer, running, sqlite_place

SECONDS = 300
"""Patience, whatever else the machine does."""
DELETE = "mutation($p: String!, $id: ID!) { deleteTrace(project: $p, id: $id) { __typename } }"


async def _written(server: RunningServer, count: int) -> list[Trace]:
    """So many traces in a server's project."""
    name = uuid4().hex
    async with await open_databases(server.place.settings()) as database:
        traces = [assistant(server.project, f"{name}-{number}") for number in range(count)]
        for trace in traces:
            await trace.write(database.project(server.project))
    return [trace.trace for trace in traces]


async def _look(server: RunningServer, traces: list[Trace]) -> tuple[set[str], dict[str, str]]:
    """The ids of deleted traces, and the outcomes of all deletions in the audit log, by target."""
    async with await open_databases(server.place.settings()) as database:
        there = await database.project(server.project).get(Label.TRACE, [trace.id for trace in traces])
        entries = (await database.records(server.project).audit(1000)).items
    outcomes = {one.target or "": one.outcome for one in entries if one.action == "deleteTrace"}
    return {trace.id for trace in traces} - {element.id for element in there}, outcomes


async def _ask_and_leave(server: RunningServer, trace: Trace, seconds: float) -> None:
    """Ask for a deletion over a websocket, and complete it so many seconds later."""
    url = f"{server.url.replace('http', 'ws', 1)}/graphql"
    protocols: Any = ["graphql-transport-ws"]
    async with connect(url, subprotocols=protocols, open_timeout=SECONDS) as socket:
        token = f"Bearer {server.key('admin')}"
        await socket.send(json.dumps({"type": "connection_init", "payload": {"authorization": token}}))
        assert json.loads(await socket.recv())["type"] == "connection_ack"
        payload = {"query": DELETE, "variables": {"p": server.project, "id": trace.id}}
        await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": payload}))
        await asyncio.sleep(seconds)
        await socket.send(json.dumps({"type": "complete", "id": "1"}))
        await socket.send(json.dumps({"type": "ping"}))
        while json.loads(await socket.recv())["type"] != "pong":
            """Answers that came all the same."""


async def test_a_deletion_that_is_completed_at_once_is_in_the_audit_log(server: RunningServer) -> None:
    """Asked to stop after 0.002 to 2.5 seconds: on Neo4j at every third of the moments."""
    moments = [0.002 * 1.2**number for number in range(40)]
    if not server.place.store.startswith("sqlite:"):
        moments = moments[::3]
    traces = await _written(server, len(moments))
    server.key("admin")
    await asyncio.gather(*(_ask_and_leave(server, trace, at) for trace, at in zip(traces, moments, strict=True)))
    async with asyncio.timeout(SECONDS):
        while True:
            gone, outcomes = await _look(server, traces)
            # A deletion that has begun runs to its end: none is half done, and every deletion is in the audit log.
            if (
                gone
                and gone == {target for target in outcomes if target in {trace.id for trace in traces}}
                and not ({"begun"} & {outcomes[id_] for id_ in gone})
            ):
                break
            await asyncio.sleep(0.2)
    assert {outcomes[id_] for id_ in gone} == {"ok"}


@pytest.mark.full
async def test_a_change_that_took_too_long_is_carried_through_and_told_of(tmp_path: Path) -> None:
    """Somebody else holds the file's lock: the client is not told that nothing was done."""
    with running(sqlite_place(tmp_path), tmp_path, request_seconds=1) as server:
        first, second = await _written(server, 2)
        with server.client("admin") as admin, server.client("writer") as writer:
            admin.get("/v1/jobs/x")
            writer.get("/v1/jobs/x")
            lock = apsw.Connection(str(tmp_path / "server.db"))
            lock.execute("BEGIN IMMEDIATE")

            def delete() -> dict[str, Any]:
                answer = admin.post(
                    "/graphql", json={"query": DELETE, "variables": {"p": server.project, "id": first.id}}
                )
                found: dict[str, Any] = answer.json()
                return found

            def start() -> tuple[int, str]:
                answer = writer.post("/v1/reports", json={"traceIds": [second.id]})
                return answer.status_code, answer.json()["detail"]

            deleted, (status, detail) = await asyncio.gather(asyncio.to_thread(delete), asyncio.to_thread(start))
            lock.execute("ROLLBACK")
            lock.close()
        (error,) = deleted["errors"]
        assert error["extensions"]["code"] == "TIMEOUT"
        assert "carried through" in error["message"]
        assert (status, "carried through" in detail) == (504, True)
        async with asyncio.timeout(SECONDS):
            while (await _look(server, [first]))[0] != {first.id}:
                await asyncio.sleep(0.05)
        assert (await _look(server, [first]))[1] == {first.id: "ok"}
        async with await open_databases(server.place.settings()) as database:
            async with asyncio.timeout(SECONDS):
                while not (jobs := (await database.records(server.project).job_page()).items):
                    await asyncio.sleep(0.05)
            told = [(one.action, one.target) for one in (await database.records(server.project).audit()).items]
        assert ("report", jobs[0].id) in told
