"""Events come in any order, in any requests: early events are written when their missing elements have come."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.events.reading import read
from ingest.events.taking import take_events
from ingest.queue.admission import Sent, admit
from ingest.queue.protocol import EventQueue
from ingest.queue.worker import EventWorker
from store.contract.protocol import Database
from store.open import open_database
from tests.memory_processes import ALICE, NOW, WEEK, ask, forget, past, tell, update
from tests.queue.conftest import Opener
from tests.queue.sets import closed_set, cut, graph_of

TRIES = 3
PATIENCE_SECONDS = 120
EXAMPLES = int(os.environ.get("MEMTRACE_ORDERS") or 10)
"""Number of orders, for each of two queues with each of two stores."""


@pytest.fixture(autouse=True)
def _no_other_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch retries off, so that an early event is only written when its missing elements come."""
    monkeypatch.setattr("ingest.queue.writing.wait_seconds", lambda tries: 3600.0)


@pytest_asyncio.fixture
async def reference(tmp_path: Path) -> AsyncIterator[Database]:
    """A store that gets all events in order."""
    async with await open_database(f"sqlite:///{tmp_path / 'reference.db'}") as opened:
        yield opened


@pytest.fixture
def project() -> str:
    return f"test-{uuid4().hex}"


@asynccontextmanager
async def _working(queue: EventQueue, database: Database) -> AsyncIterator[EventWorker]:
    worker = EventWorker(queue, database, TRIES, concurrency=2)
    await worker.start()
    try:
        yield worker
    finally:
        await worker.stop(10)


async def _send(queue: EventQueue, project: str, requests: Sequence[Sequence[bytes]]) -> None:
    for request in requests:
        assert await admit(queue, project, Sent(list(request))) == []


async def _empty(queue: EventQueue, project: str) -> None:
    """Wait until all events are written; none may be given up."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await queue.state()).packets:
            await asyncio.sleep(0.01)
    assert [letter.reason for letter in await queue.letters(project).page()] == []


async def _in_order(reference: Database, project: str, trace: str, events: Sequence[bytes]) -> dict[str, Any]:
    store = reference.project(project)
    assert await take_events(store, read(events)) == []  # type: ignore[arg-type]
    return await graph_of(store, trace)


async def _same(database: Database, project: str, trace: str, expected: dict[str, Any]) -> None:
    found = await graph_of(database.project(project), trace)
    for part, content in expected.items():
        assert found[part] == content, part


@pytest_asyncio.fixture
async def at_work(queue: EventQueue, database: Database) -> AsyncIterator[EventWorker]:
    """A worker that runs during all examples."""
    async with _working(queue, database) as worker:
        yield worker


@given(steps=st.integers(1, 12), seed=st.integers(0, 2**32), is_timed=st.booleans(), data=st.data())
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("at_work")
async def test_any_order_in_any_requests_is_the_same_graph(
    queue: EventQueue,
    database: Database,
    reference: Database,
    project: str,
    steps: int,
    seed: int,
    is_timed: bool,
    data: st.DataObject,
) -> None:
    trace = uuid4().hex
    events = closed_set(trace, steps, Random(seed), is_timed=is_timed)
    expected = await _in_order(reference, project, trace, events)
    mixed = data.draw(st.permutations(events))
    at = data.draw(st.sets(st.integers(1, len(events) - 1), max_size=len(events)))
    await _send(queue, project, cut(mixed, at))
    await _empty(queue, project)
    await _same(database, project, trace, expected)


@pytest.mark.full
@pytest.mark.parametrize("requests", [20, 300])
async def test_three_hundred_events_shuffled(
    queue: EventQueue, database: Database, reference: Database, project: str, requests: int
) -> None:
    trace, random = uuid4().hex, Random(300)
    events = closed_set(trace, 45, random)[:300]
    expected = await _in_order(reference, project, trace, events)
    random.shuffle(events)
    async with _working(queue, database) as worker:
        await _send(queue, project, cut(events, random.sample(range(1, len(events)), requests - 1)))
        await _empty(queue, project)
    assert worker.tally.dead == 0
    await _same(database, project, trace, expected)


async def test_what_waits_is_written_after_the_worker_was_started_again(
    opener: Opener, database: Database, reference: Database, project: str
) -> None:
    """A second worker goes on without the memory of the first."""
    trace, random = uuid4().hex, Random(7)
    events = closed_set(trace, 20, random)
    expected = await _in_order(reference, project, trace, events)
    first, *others = events
    random.shuffle(others)
    middle = len(others) // 2
    for part in (others[:middle], others[middle:], [first]):
        queue = await opener()
        await _send(queue, project, [[one] for one in part])
        async with _working(queue, database) as worker:
            if part != [first]:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while not worker.tally.batches:
                        await asyncio.sleep(0.01)
            else:
                await _empty(queue, project)
    await _same(database, project, trace, expected)


@pytest.mark.parametrize("seed", range(3))
async def test_eight_processes_share_a_memory_and_send_at_the_same_time(
    queue: EventQueue, database: Database, reference: Database, project: str, seed: int
) -> None:
    """Processes share units. Some units are written, read, overwritten and deleted; one unit has no recorded maker."""
    home, moved, dog = ("u1", "Lives in Bergen"), ("u1", "Lives in Oslo now"), ("u2", "Has a dog, Rufus")
    old = ("u0", "Is a baker in Lisbon")
    processes = [
        tell("I moved to Bergen.", home[1]),
        tell("My dog is called Rufus.", dog[1], "u2"),
        update("I moved on to Oslo.", home, moved[1], at=NOW + WEEK),
        ask("Where do I live?", [home], "In Bergen.", considered=[dog, old]),
        ask("Where do I live now?", [moved], "In Oslo.", considered=[dog], at=NOW + 2 * WEEK),
        ask("What is my dog called?", [dog, old], "Rufus.", considered=[home]),
        forget(home, at=NOW + 3 * WEEK),
        forget(dog, at=NOW + 3 * WEEK),
    ]
    events = [line for lines in processes for line in lines]
    expected = await _in_order(reference, project, ALICE, events)
    random = Random(seed)
    async with _working(queue, database) as worker:

        async def send(lines: Sequence[bytes]) -> None:
            shuffled = random.sample(lines, len(lines))
            await _send(queue, project, cut(shuffled, random.sample(range(1, len(lines)), random.randrange(3))))

        await asyncio.gather(*(send(lines) for lines in random.sample(processes, len(processes))))
        await _empty(queue, project)
    assert worker.tally.dead == 0
    await _same(database, project, ALICE, expected)
    store = database.project(project)
    assert await past(store, "In Bergen.", ALICE) == [
        "Answer: In Bergen.",
        "MemoryUnit: Lives in Bergen",
        "Message: I moved to Bergen.",
        "Query: Where do I live?",
    ]
    assert "MemoryUnit: Is a baker in Lisbon" in await past(store, "Rufus.", ALICE)
