"""Neo4j is away for a while: events are acknowledged all the same, and are in the graph once it is back.

``MEMTRACE_OUTAGE_SECONDS`` says for how long; 3 by default, 10 where all is done in full, and 120 for the long
form. Its next start takes as long again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections.abc import Sequence
from uuid import uuid4

import pytest

from api.loading import open_queue, open_store
from tests.data import FULL
from tests.torture.load import Sender
from tests.torture.processes import World, waits

_log = logging.getLogger(__name__)

pytestmark = [pytest.mark.neo4j, pytest.mark.once]

SECONDS = float(os.environ.get("MEMTRACE_OUTAGE_SECONDS") or (10 if FULL else 3))
_SENDERS = 4
_PAUSE = 0.1 if SECONDS >= 10 else 0.5
_PATIENCE_SECONDS = 180.0


async def test_events_are_taken_while_neo4j_is_away(team: World) -> None:
    project = f"outage-{uuid4().hex[:8]}"
    key = team.place.make_key("writer", project)
    neo4j = team.part("neo4j")
    stopping = asyncio.Event()
    senders = [Sender(team.url, key) for _ in range(_SENDERS)]
    async with asyncio.TaskGroup() as group:
        for sender in senders:
            group.create_task(sender.run(stopping, _PAUSE))
        try:
            await _more_is_acknowledged(senders)
            await asyncio.to_thread(neo4j.kill)
            back_at = time.monotonic() + SECONDS
            tries = sum(sender.tries for sender in senders)
            taken = sum(sender.steps for sender in senders)
            while time.monotonic() < back_at:
                await _more_is_acknowledged(senders)
            tries = sum(sender.tries for sender in senders) - tries
            taken = sum(sender.steps for sender in senders) - taken
            waiting = await asyncio.to_thread(waits, team.url)
            await asyncio.to_thread(neo4j.start)
            await _more_is_acknowledged(senders)
        finally:
            stopping.set()
    began = time.monotonic()
    await _drained(team)
    _log.info(
        "away for %.0f s: %d requests sent, %d steps acknowledged, %d packets waited", SECONDS, tries, taken, waiting
    )
    _log.info("the queue was empty %.1f s after the senders had stopped", time.monotonic() - began)

    assert waiting > 0
    assert "event given up" not in team.log_of("worker")
    async with await open_store(team.settings) as database, await open_queue(team.settings) as queue:
        assert await queue.letters(project).page() == []
        for sender in senders:
            await sender.check(database.project(project))


async def _drained(world: World) -> None:
    """Wait until nothing waits, as long as it becomes less."""
    least, since = sys.maxsize, time.monotonic()
    while (left := await asyncio.to_thread(waits, world.url)) != 0:
        if 0 < left < least:
            least, since = left, time.monotonic()
        assert time.monotonic() - since < _PATIENCE_SECONDS, world.log_of("worker")[-3000:]
        await asyncio.sleep(0.2)


async def _more_is_acknowledged(senders: Sequence[Sender]) -> None:
    """Wait until each sender is a step further."""
    goals = [sender.steps + 1 for sender in senders]
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while any(sender.steps < goal for sender, goal in zip(senders, goals, strict=True)):
            await asyncio.sleep(0.05)
