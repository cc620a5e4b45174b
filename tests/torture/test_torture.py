"""Kill anything at any moment, under load: what was acknowledged is in the graph, exactly once, and nothing is stuck.

``MEMTRACE_TORTURE_KILLS`` says how often; 4 by default, so that each part is killed once. ``make torture`` kills 100
times. Neo4j is away for at least 3 seconds, in which events are acknowledged all the same.
"""

from __future__ import annotations

import asyncio
import os
from random import Random
from uuid import uuid4

import pytest

from api.settings.loading import open_queue, open_store
from tests.torture.load import Sender
from tests.torture.outage import drained, more_is_acknowledged, taken_while_neo4j_is_away
from tests.torture.processes import World

pytestmark = pytest.mark.once

KILLS = int(os.environ.get("MEMTRACE_TORTURE_KILLS") or 4)
_SENDERS = 4
_PAUSE = 0.1 if KILLS > 4 else 0.3
_OUTAGE_SECONDS = 3.0


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
                await more_is_acknowledged(senders)
                await asyncio.sleep(random.uniform(0, 1.5))
                # In turn, so that each is killed equally often, and the two workers never at one moment.
                part = world.parts[number % len(world.parts)]
                await asyncio.to_thread(part.kill)
                if part.name == "neo4j":
                    await taken_while_neo4j_is_away(world, senders, _OUTAGE_SECONDS)
                else:
                    await asyncio.sleep(random.uniform(0, 1.5))
                await asyncio.to_thread(part.start)
            await more_is_acknowledged(senders)
        finally:
            stopping.set()
    await drained(world)
    async with await open_store(world.settings) as database, await open_queue(world.settings) as queue:
        letters = await queue.letters(project).page()
        assert letters == []
        for sender in senders:
            await sender.check(database.project(project))
    assert sum(sender.tries for sender in senders) > 0
