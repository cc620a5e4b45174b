"""Workers: from the queue to the graph, with bad events, bad stores and bad neighbours."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from memtrace.events import Event, VariableEvent, decode
from structlog.testing import capture_logs

import ingest.queue.write_packets
import ingest.queue.writing
from api.local_servers.nats import LocalNats
from ingest.events.taking import Refusal, take_events
from ingest.queue.admission import Sent, admit
from ingest.queue.nats.connection import NatsPlace
from ingest.queue.nats.queue import open_nats
from ingest.queue.packets import pack
from ingest.queue.protocol import DeadLetter, EventQueue, Packet
from ingest.queue.worker import EventWorker
from schema.errors import StoreError
from schema.ids import trace_id
from schema.models import Derivation, Variable
from store.contract.protocol import Database, GraphStore
from store.open import open_database
from store.shared.paging import elements
from tests.nats_server import NatsServer
from tests.queue.conftest import Opener

TRIES = 3
PROJECT = "p"


def _event(type_: str, trace: str, **fields: Any) -> bytes:
    head = {"v": 1, "type": type_, "trace": trace, "time": "2026-01-01T00:00:00.000000Z"}
    return json.dumps(head | fields).encode()


def _message(trace: str, name: str, value: str = "hello", **more: Any) -> bytes:
    fields = {"name": name, "kind": "Message", "version": 0, "value": value, "mediaType": "text/plain"}
    return _event("variable", trace, variable=name, **(fields | more))


@pytest_asyncio.fixture
async def place(tmp_path: Path) -> AsyncIterator[Database]:
    """A store of its own."""
    async with await open_database(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        yield opened


@asynccontextmanager
async def _working(queue: EventQueue, place: Database, tries: int = TRIES) -> AsyncIterator[EventWorker]:
    worker = EventWorker(queue, place, tries, concurrency=2)
    await worker.start()
    try:
        yield worker
    finally:
        await worker.stop(10)


async def _send(queue: EventQueue, *events: bytes) -> None:
    assert await admit(queue, PROJECT, Sent(list(events))) == []


async def _names(store: GraphStore, trace: str) -> list[str]:
    """Names of a trace's variables, in order."""
    found = await elements(store, Variable, trace_id(PROJECT, trace))
    assert [one.sequence for one in found] == list(range(len(found)))
    return [one.name for one in found]


async def _empty(queue: EventQueue) -> None:
    """Wait until the queue is empty."""
    async with asyncio.timeout(300):
        while (await queue.state()).packets:
            await asyncio.sleep(0.02)


async def _letters(queue: EventQueue, count: int) -> list[DeadLetter]:
    async with asyncio.timeout(300):
        while await queue.letters(PROJECT).count() < count:
            await asyncio.sleep(0.02)
    return await queue.letters(PROJECT).page()


async def test_events_come_into_the_graph_once_and_in_order(queue: EventQueue, place: Database) -> None:
    traces = [uuid4().hex for _ in range(10)]
    async with _working(queue, place) as worker:
        for part in range(4):
            for trace in traces:
                await _send(queue, *(_message(trace, f"m{part * 10 + number}") for number in range(10)))
        await _send(queue, *(_message(traces[0], f"m{number}") for number in range(40)))  # the same events again
        await _empty(queue)
    store = place.project(PROJECT)
    for trace in traces:
        assert await _names(store, trace) == [f"m{number}" for number in range(40)]
    assert (await queue.state()).dead == 0
    assert (worker.tally.written, worker.tally.dead) == (440, 0)


async def test_a_poison_event_is_a_dead_letter_and_its_neighbours_are_in_the_graph(
    queue: EventQueue, place: Database
) -> None:
    bad = _event("used", "t", operation="o", variable="missing", position=0)
    async with _working(queue, place):
        await _send(
            queue,
            _message("t", "before"),
            _event("operationStarted", "t", operation="o", name="o", kind="Other"),
            bad,
            _message("t", "after"),
        )
        (letter,) = await _letters(queue, 1)
        assert letter.event == bad
        assert letter.reason == "variable: there is no variable 'missing' in this trace"
        assert (letter.trace, letter.tries) == ("t", TRIES)
        await _empty(queue)
        assert await _names(place.project(PROJECT), "t") == ["before", "after"]
        # After a correction, the event is accepted.
        await _send(queue, bad.replace(b"missing", b"before"))
        await _empty(queue)
    (used,) = await place.project(PROJECT).usages(trace_id(PROJECT, "t"))
    assert used.variable_id


async def test_what_comes_too_early_is_taken_when_the_rest_has_come(queue: EventQueue, place: Database) -> None:
    async with _working(queue, place, tries=20):
        await _send(queue, _message("t", "child", operation="o"))
        await asyncio.sleep(0.5)
        assert await _names(place.project(PROJECT), "t") == []
        await _send(queue, _event("operationStarted", "t", operation="o", name="o", kind="Other"))
        await _empty(queue)
    assert await _names(place.project(PROJECT), "t") == ["child"]
    assert (await queue.state()).dead == 0


class _Ill:
    """A database that can't be used for a while."""

    def __init__(self, place: Database, failures: int) -> None:
        self._database = place
        self.failures = failures

    def project(self, project_id: str) -> GraphStore:
        if self.failures > 0:
            self.failures -= 1
            raise StoreError("away")
        return self._database.project(project_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


async def test_long_searches_are_shared_out_to_turns_and_none_is_given_up_for_it(
    queue: EventQueue, place: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest.queue.write_packets, "STEPS_OF_A_TURN", 100)

    def edge(source: int, target: int) -> bytes:
        fields = {"derivation": f"{source}-{target}", "source": f"m{source}", "target": f"m{target}"}
        return _event("derived", "t", operation="o", kind="Derivation", **fields)

    chain = [edge(number, number + 1) for number in range(59)]
    cycles = [edge(50 + number, number) for number in range(10)]
    late = [_message("t", "m60"), edge(60, 0)]
    async with _working(queue, place) as worker:
        await _send(queue, _event("operationStarted", "t", operation="o", name="o", kind="Other"))
        await _send(queue, *(_message("t", f"m{number}") for number in range(60)), *chain)
        await _empty(queue)
        await _send(queue, *cycles, *late)
        await _empty(queue)
    letters = await _letters(queue, len(cycles))
    assert all("close a cycle" in letter.reason for letter in letters)
    assert worker.tally.postponed > TRIES
    found = await elements(place.project(PROJECT), Derivation, trace_id(PROJECT, "t"))
    assert {one.external_id for one in found} == {f"{number}-{number + 1}" for number in range(59)} | {"60-0"}


async def test_a_store_that_is_away_loses_nothing(queue: EventQueue, place: Database) -> None:
    ill: Any = _Ill(place, failures=4)
    async with _working(queue, ill) as worker:
        await _send(queue, *(_message("t", f"m{number}") for number in range(5)))
        await _empty(queue)
    assert await _names(place.project(PROJECT), "t") == [f"m{number}" for number in range(5)]
    assert (worker.tally.store_failures, worker.tally.dead) == (4, 0)


@pytest.mark.parametrize("kind", [StoreError, ZeroDivisionError])
async def test_an_event_that_breaks_the_writer_is_found_among_its_neighbours(
    queue: EventQueue, place: Database, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the store otherwise works, only the event that the store can't take is given up."""

    async def take(store: GraphStore, events: Sequence[Event]) -> list[Refusal]:
        if any(isinstance(event, VariableEvent) and event.name == "breaker" for event in events):
            raise kind("broken by one event")
        return await take_events(store, events)

    monkeypatch.setattr(ingest.queue.writing, "take_events", take)
    monkeypatch.setattr("ingest.queue.worker.wait_seconds", lambda tries: 0.01)
    async with _working(queue, place):
        names = ["m0", "m1", "breaker", "m2", "m3"]
        await _send(queue, *(_message("t", name) for name in names))
        (letter,) = await _letters(queue, 1)
        await _empty(queue)
    assert b"breaker" in letter.event
    assert await _names(place.project(PROJECT), "t") == ["m0", "m1", "m2", "m3"]


async def test_a_damaged_packet_and_another_version_are_dead_letters(queue: EventQueue, place: Database) -> None:
    line = _message("t", "good")
    # Of an event of a later version, only the trace is known.
    ((good, _),) = pack(PROJECT, [(line.replace(b'"v": 1', b'"v": 2'), decode(line))])
    await queue.put([Packet(PROJECT, "t", b"no zstd", 1), good])
    await _send(queue, _message("t", "other"))
    async with _working(queue, place):
        letters = await _letters(queue, 2)
        await _empty(queue)
    assert letters[0].reason == "the packet is damaged"
    assert letters[0].event == b"no zstd"
    assert "this side reads version 1" in letters[1].reason
    assert await _names(place.project(PROJECT), "t") == ["other"]


@pytest.mark.full
async def test_more_workers_share_the_work_and_one_that_leaves_is_not_missed(opener: Opener, place: Database) -> None:
    queue = await opener()
    traces = [uuid4().hex for _ in range(60)]
    async with _working(queue, place) as first:
        async with _working(await opener(), place) as second:
            async with asyncio.timeout(300):
                while (await queue.state()).workers < 2:
                    await asyncio.sleep(0.02)
            async with asyncio.timeout(300):
                while not (first.tally.written and second.tally.written):
                    await _send(queue, *(_message(trace, uuid4().hex) for trace in traces))
                    await _empty(queue)
        for trace in traces:
            await _send(queue, _message(trace, "last"))
        await _empty(queue)
    for trace in traces:
        assert (await _names(place.project(PROJECT), trace))[-1] == "last"


@pytest.mark.usefixtures("nats")
async def test_a_worker_stops_soon_while_the_broker_is_away(tmp_path: Path) -> None:
    """It waited for batches that nobody could settle, and then failed while it closed the connection."""
    local = LocalNats(tmp_path / "nats", port=0)
    server = NatsServer(local, local.start(guarded=True))
    try:
        queue = await open_nats(NatsPlace(server.uri, server.user, server.password), 1 << 30)
        async with await open_database(f"sqlite:///{tmp_path / 'store.db'}") as database:
            worker = EventWorker(queue, database, 3, concurrency=2)
            await worker.start()
            while (await queue.state()).workers == 0:
                await asyncio.sleep(0.01)
            local.stop(kill=True)
            async with asyncio.timeout(60):
                while not queue.is_away:
                    await asyncio.sleep(0.01)
            with capture_logs() as logs:
                began = time.monotonic()
                await worker.stop(20)
                await queue.close()
            assert time.monotonic() - began < 8
        assert any("the queue is away" in one["event"] for one in logs)
    finally:
        local.stop(kill=True)
