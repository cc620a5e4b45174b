"""Kill anything at any moment, under load: what was acknowledged is in the graph, exactly once, and nothing is stuck.

``MEMTRACE_TORTURE_KILLS`` says how often; 4 by default, so that each part is killed once. ``make torture`` kills 100
times.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest

from api.loading import open_queue, open_store
from api.settings import Settings
from ingest.nats.local import LocalNats
from store.neo4j.local import LocalNeo4j
from store.neo4j.local.distribution import Distribution
from tests.nats_server import NatsServer
from tests.server.running import Place, sqlite_place
from tests.torture.load import Sender
from tests.torture.parts import Nats, Neo4j, Part, Process, free_port, waits

pytestmark = [pytest.mark.once, pytest.mark.xdist_group("torture")]

KILLS = int(os.environ.get("MEMTRACE_TORTURE_KILLS") or 4)
_SENDERS = 4
_PAUSE = 0.1
_DRAIN_SECONDS = 180.0


@dataclass
class World:
    """All that runs.

    Attributes:
        place: the store.
        parts: what is killed.
        url: the server's.
        workers: the processes that write, the server where it writes itself.
        settings: to open the store and the queue with.
    """

    place: Place
    parts: Sequence[Part]
    url: str
    workers: Sequence[Process]
    settings: Settings

    def log_of(self, name: str) -> str:
        """What all processes with such a name have logged."""
        return "".join(part.log for part in self.parts if isinstance(part, Process) and part.name.startswith(name))


@pytest.fixture
def team(nats: NatsServer, neo4j_distribution: Distribution, tmp_path: Path) -> Iterator[World]:
    """Neo4j, NATS, a server and two workers, all of this test's own."""
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
        workers = [Process(f"worker-{n}", ["worker"], environment, tmp_path, "writes events") for n in range(2)]
        for one in (server, *workers):
            stack.callback(one.kill)
            one.start()
        parts: list[Part] = [workers[0], server, Nats(broker), Neo4j(home), workers[1]]
        yield World(place, parts, f"http://127.0.0.1:{port}", workers, place.settings())


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[World]:
    """A server on a SQLite file with a journal."""
    place = sqlite_place(tmp_path)
    port = free_port()
    environment = place.variables(rate_limit="1000000/minute", log_format="text")
    server = Process("server", ["serve", "--port", str(port)], environment, tmp_path, "listens on")
    server.start()
    yield World(place, [server], f"http://127.0.0.1:{port}", [server], place.settings())
    server.kill()


@pytest.mark.neo4j
async def test_a_team_that_is_killed_part_by_part(team: World) -> None:
    await _torture(team, KILLS)
    killed = {part.name for part in team.parts[:KILLS]}
    if "nats" in killed:
        assert "the connection to NATS is lost" in team.log_of("worker")
    if "neo4j" in killed:
        assert "a batch is not written yet" in team.log_of("worker")
    assert "event given up" not in team.log_of("worker")


async def test_a_server_alone_that_is_killed(alone: World) -> None:
    await _torture(alone, KILLS)
    assert "event given up" not in alone.log_of("server")


async def _torture(world: World, kills: int) -> None:
    random = Random(kills)
    project = f"torture-{uuid4().hex[:8]}"
    key = world.place.make_key("writer", project)
    stopping = asyncio.Event()
    senders = [Sender(world.url, key) for _ in range(_SENDERS)]
    async with asyncio.TaskGroup() as group:
        for sender in senders:
            group.create_task(sender.run(stopping, _PAUSE))
        try:
            for number in range(kills):
                await _some_are_acknowledged(senders)
                await asyncio.sleep(random.uniform(0, 1.5))
                # In turn, so that each is killed equally often, and the two workers never at one moment.
                part = world.parts[number % len(world.parts)]
                await asyncio.to_thread(part.kill)
                await asyncio.sleep(random.uniform(0, 1.5))
                await asyncio.to_thread(part.start)
            await _some_are_acknowledged(senders)
        finally:
            stopping.set()
    await _drained(world)
    async with await open_store(world.settings) as database, await open_queue(world.settings) as queue:
        letters = await queue.letters(project).page()
        assert letters == []
        for sender in senders:
            await sender.check(database.project(project))
    assert sum(sender.tries for sender in senders) > 0


async def _some_are_acknowledged(senders: Sequence[Sender]) -> None:
    """Wait until each sender is a step further: whatever was killed before is back."""
    goals = [sender.steps + 1 for sender in senders]
    async with asyncio.timeout(_DRAIN_SECONDS):
        while any(sender.steps < goal for sender, goal in zip(senders, goals, strict=True)):
            await asyncio.sleep(0.05)


async def _drained(world: World) -> None:
    async with asyncio.timeout(_DRAIN_SECONDS):
        while await asyncio.to_thread(waits, world.url) != 0:
            await asyncio.sleep(0.2)
