"""Neo4j is away for a while: events are acknowledged all the same, and are in the graph once it is back.

``MEMTRACE_OUTAGE_SECONDS`` says for how long; 10 where all is done in full, and 120 for the long form. Its next start
takes as long again. Otherwise ``test_torture.py`` looks at the same, for 3 seconds, when it kills Neo4j.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from uuid import uuid4

import pytest

from api.settings.loading import open_queue, open_store
from tests.torture.load import Sender
from tests.torture.outage import drained, more_is_acknowledged, taken_while_neo4j_is_away
from tests.torture.processes import World

_log = logging.getLogger(__name__)

SECONDS = float(os.environ.get("MEMTRACE_OUTAGE_SECONDS") or 0)

pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.once,
    pytest.mark.skipif(SECONDS == 0, reason="test_torture.py looks at the same; MEMTRACE_OUTAGE_SECONDS says how long"),
]

_SENDERS = 4
_PAUSE = 0.1


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
            await more_is_acknowledged(senders)
            await asyncio.to_thread(neo4j.kill)
            before = sum(sender.tries for sender in senders), sum(sender.steps for sender in senders)
            waiting = await taken_while_neo4j_is_away(team, senders, SECONDS)
            tries, taken = (sum(sender.tries for sender in senders), sum(sender.steps for sender in senders))
            await asyncio.to_thread(neo4j.start)
            await more_is_acknowledged(senders)
        finally:
            stopping.set()
    began = time.monotonic()
    await drained(team)
    told = SECONDS, tries - before[0], taken - before[1], waiting
    _log.info("away for %.0f s: %d requests sent, %d steps acknowledged, %d packets waited", *told)
    _log.info("the queue was empty %.1f s after the senders had stopped", time.monotonic() - began)

    assert "event given up" not in team.log_of("worker")
    async with await open_store(team.settings) as database, await open_queue(team.settings) as queue:
        assert await queue.letters(project).page() == []
        for sender in senders:
            await sender.check(database.project(project))
