"""What has heaped up while no worker ran is written by one that starts, in bounded memory, and each event once.

``MEMTRACE_BACKLOG_EVENTS`` says how many; 20,000 by default, and a million for the long form.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

from api.local_servers.nats import LocalNats
from api.settings.loading import open_queue, open_store
from ingest.queue.admission import Sent, admit
from ingest.queue.protocol import EventQueue, QueueState
from store.contract.protocol import GraphStore
from tests.nats_server import NatsServer
from tests.server.running import Place, sqlite_place
from tests.torture.load import Sender, step
from tests.torture.processes import Process

_log = logging.getLogger(__name__)

pytestmark = pytest.mark.once

EVENTS = int(os.environ.get("MEMTRACE_BACKLOG_EVENTS") or 20_000)
MOST_MEMORY = 400 << 20
"""Of the worker, whatever waits: itself, four batches in hand, and the packets that it has of each lane."""

_EVENTS_A_STEP = 6
_STEPS_A_REQUEST = 300
_STEPS_A_TRACE = 1_200
_PROJECT = "backlog"
_IDLE_SECONDS = 120.0


@dataclass
class World:
    """A queue that nobody empties yet, and what empties it."""

    place: Place
    queue: EventQueue
    store: GraphStore
    worker: Process


@pytest_asyncio.fixture
async def world(nats: NatsServer, tmp_path: Path) -> AsyncIterator[World]:
    """A broker of this test's own, and a SQLite file."""
    async with AsyncExitStack() as stack:
        local = LocalNats(tmp_path / "nats", port=0)
        broker = NatsServer(local, local.start(guarded=True))
        stack.callback(local.stop, kill=True)
        alone = sqlite_place(tmp_path)
        place = Place(alone.store, {**alone.environment, **broker.environment()})
        worker = Process("worker", ["worker"], place.variables(log_format="text"), tmp_path, "writes events")
        stack.callback(worker.kill)
        database = await stack.enter_async_context(await open_store(place.settings()))
        await database.migrate()
        queue = await stack.enter_async_context(await open_queue(place.settings()))
        yield World(place, queue, database.project(_PROJECT), worker)


async def test_a_backlog_is_written_in_bounded_memory(world: World) -> None:
    steps = EVENTS // _EVENTS_A_STEP
    traces = {
        f"trace {number}": min(_STEPS_A_TRACE, steps - number * _STEPS_A_TRACE)
        for number in range(-(-steps // _STEPS_A_TRACE))
    }
    for start in range(0, _STEPS_A_TRACE, _STEPS_A_REQUEST):  # all traces grow side by side, as they do
        for trace, length in traces.items():
            numbers = range(start, min(start + _STEPS_A_REQUEST, length))
            lines = [msgspec.json.encode(event) for number in numbers for event in step(trace, number)]
            assert not lines or await admit(world.queue, _PROJECT, Sent(lines)) == []
    before = await world.queue.state()
    assert before.packets >= len(traces)
    assert before.workers == 0

    began = time.monotonic()
    world.worker.start()
    most = await _emptied(world)
    seconds = time.monotonic() - began
    _log.info("%d events, %d packets, %d bytes in the queue", EVENTS, before.packets, before.bytes)
    _log.info("%.1f s, %.0f events a second, %d MiB at most", seconds, EVENTS / seconds, most >> 20)

    assert most <= MOST_MEMORY
    assert await world.queue.letters(_PROJECT).page() == []
    labels = (await world.store.stats()).labels
    assert {name: labels[name] for name in ("Trace", "Operation", "Variable", "Derivation")} == {
        "Trace": len(traces),
        "Operation": steps,
        "Variable": 2 * steps,
        "Derivation": steps,
    }
    for trace in (min(traces), max(traces)):
        await Sender("", "", trace, traces[trace]).check(world.store)
    assert world.worker.stop() == 0


async def _emptied(world: World) -> int:
    """Wait until nothing is left, as long as it becomes less; the most memory that the worker had."""
    left, since = (await world.queue.state()).packets, time.monotonic()
    while True:
        state: QueueState = await world.queue.state()
        most = world.worker.memory
        if state.packets == 0:
            return most
        if state.packets < left:
            left, since = state.packets, time.monotonic()
        assert time.monotonic() - since < _IDLE_SECONDS, world.worker.log[-3000:]
        await asyncio.sleep(0.1)
