"""Neo4j is away for a while: events are acknowledged all the same, and are in the graph once it is back.

``MEMTRACE_OUTAGE_SECONDS`` says for how long; 10 by default, and 120 for the long form.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from api.loading import open_queue, open_store
from ingest.nats.local import LocalNats
from store.neo4j.local import LocalNeo4j
from store.neo4j.local.distribution import Distribution
from tests.nats_server import NatsServer
from tests.server.running import Place
from tests.torture.load import Sender
from tests.torture.parts import Neo4j, Process, free_port, waits

_log = logging.getLogger(__name__)

pytestmark = [pytest.mark.neo4j, pytest.mark.once, pytest.mark.xdist_group("torture")]

SECONDS = float(os.environ.get("MEMTRACE_OUTAGE_SECONDS") or 10)
_SENDERS = 4
_PAUSE = 0.1
_PATIENCE_SECONDS = 180.0


@dataclass
class World:
    """All that runs."""

    place: Place
    neo4j: Neo4j
    worker: Process
    url: str


@pytest.fixture
def world(nats: NatsServer, neo4j_distribution: Distribution, tmp_path: Path) -> Iterator[World]:
    """Neo4j, NATS, a server and a worker, all of this test's own."""
    with ExitStack() as stack:
        home = LocalNeo4j(tmp_path / "neo4j", version=neo4j_distribution.version, port=free_port())
        neo4j = home.start(guarded=True)
        stack.callback(home.stop, kill=True)
        local = LocalNats(tmp_path / "nats", port=0)
        broker = NatsServer(local, local.start(guarded=True))
        stack.callback(local.stop, kill=True)
        place = Place(
            neo4j.uri,
            {
                "MEMTRACE_NEO4J_USER": neo4j.user,
                "MEMTRACE_NEO4J_PASSWORD": neo4j.password,
                "MEMTRACE_VALUES": (tmp_path / "values").as_uri(),
                **broker.environment(),
            },
        )
        done = place.memtrace("migrate")
        assert done.returncode == 0, done.stderr
        port = free_port()
        environment = place.variables(job_concurrency=0, rate_limit="1000000/minute", log_format="text")
        server = Process("server", ["serve", "--port", str(port)], environment, tmp_path, "listens on")
        worker = Process("worker", ["worker"], environment, tmp_path, "writes events")
        for one in (server, worker):
            stack.callback(one.kill)
            one.start()
        yield World(place, Neo4j(home), worker, f"http://127.0.0.1:{port}")


async def test_events_are_taken_while_neo4j_is_away(world: World) -> None:
    project = f"outage-{uuid4().hex[:8]}"
    key = world.place.make_key("writer", project)
    stopping = asyncio.Event()
    senders = [Sender(world.url, key) for _ in range(_SENDERS)]
    async with asyncio.TaskGroup() as group:
        for sender in senders:
            group.create_task(sender.run(stopping, _PAUSE))
        try:
            await _more_is_acknowledged(senders)
            await asyncio.to_thread(world.neo4j.kill)
            back_at = time.monotonic() + SECONDS
            tries = sum(sender.tries for sender in senders)
            taken = sum(sender.steps for sender in senders)
            while time.monotonic() < back_at:
                await _more_is_acknowledged(senders)
            tries = sum(sender.tries for sender in senders) - tries
            taken = sum(sender.steps for sender in senders) - taken
            waiting = await asyncio.to_thread(waits, world.url)
            await asyncio.to_thread(world.neo4j.start)
            await _more_is_acknowledged(senders)
        finally:
            stopping.set()
    began = time.monotonic()
    await _drained(world)
    _log.info(
        "away for %.0f s: %d requests sent, %d steps acknowledged, %d packets waited", SECONDS, tries, taken, waiting
    )
    _log.info("the queue was empty %.1f s after the senders had stopped", time.monotonic() - began)

    assert waiting > 0
    assert "event given up" not in world.worker.log
    settings = world.place.settings()
    async with await open_store(settings) as database, await open_queue(settings) as queue:
        assert await queue.letters(project).page() == []
        for sender in senders:
            await sender.check(database.project(project))


async def _drained(world: World) -> None:
    """Wait until nothing waits, as long as it becomes less."""
    least, since = sys.maxsize, time.monotonic()
    while (left := await asyncio.to_thread(waits, world.url)) != 0:
        if 0 < left < least:
            least, since = left, time.monotonic()
        assert time.monotonic() - since < _PATIENCE_SECONDS, world.worker.log[-3000:]
        await asyncio.sleep(0.2)


async def _more_is_acknowledged(senders: Sequence[Sender]) -> None:
    """Wait until each sender is a step further."""
    goals = [sender.steps + 1 for sender in senders]
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while any(sender.steps < goal for sender, goal in zip(senders, goals, strict=True)):
            await asyncio.sleep(0.05)
