"""Events that nobody would send: none makes the server fail, and none is half there.

``MEMTRACE_FUZZ_EXAMPLES`` counts as in ``test_doors``; of requests to `/v1/events` there are 20 times as many, since
most hold several events.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import httpx
import hypothesis
import pytest
import zstandard
from hypothesis import strategies as st
from memtrace.events import Event, EventError, decode

from api.settings.loading import open_store
from ingest.events.taking import take_events
from ingest.queue.admission import Sent
from ingest.queue.journal.queue import open_journal
from store.contract.protocol import Database, GraphStore
from store.open import open_database
from tests.fuzz.bodies import JSON, Request, requests
from tests.fuzz.graphs import graph_of, made_by
from tests.fuzz.test_doors import EXAMPLES
from tests.fuzz.wire import in_traces, lines
from tests.server.running import Place, RunningServer, running, sqlite_place

pytestmark = [pytest.mark.filterwarnings("ignore:Generating overly large repr"), pytest.mark.one_engine]

REQUESTS = 20 * EXAMPLES
_TOGETHER = 20
"""Requests that meet in the same traces."""
_MANY = 1_000
"""So many requests meet everything."""
_DRAIN_SECONDS = 300


def _settings(examples: int) -> hypothesis.settings:
    return hypothesis.settings(
        max_examples=examples,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.generate],
    )


class Door:
    """A server that takes events, with the events taken so far.

    Attributes:
        sent: the number of requests.
        accepted: the acknowledged events.
        statuses: the number of answers by status.
    """

    def __init__(self, server: RunningServer, journal: Path) -> None:
        self.server = server
        self.accepted: list[tuple[bytes, Event]] = []
        self.statuses: dict[int, int] = defaultdict(int)
        self._journal = journal
        self.sent = 0

    def post(self, client: httpx.Client, request: Request) -> None:
        """Send a request, and check its answer."""
        body = request.body(f"f{self.sent // _TOGETHER}")
        self.sent += 1
        headers = {"Content-Type": request.kind}
        if request.encoding is not None:
            headers["Content-Encoding"] = request.encoding
        response = client.post("/v1/events", content=body, headers=headers)
        self.statuses[response.status_code] += 1
        assert response.status_code in {200, 400, 413, 415}, (body, request, response.text)
        if response.status_code != 200:
            assert response.headers["content-type"].startswith("application/problem+json")
            assert response.json()["detail"]
            return
        pieces = _pieces(request, body)
        answer = response.json()
        rejected = [one["index"] for one in answer["rejected"]]
        assert rejected == sorted(set(rejected)), (body, request, answer)
        assert set(rejected) <= set(range(len(pieces))), (body, request, answer)
        assert all(one["reason"] for one in answer["rejected"])
        assert answer["accepted"] + len(rejected) == len(pieces), (body, request, answer)
        for index in set(range(len(pieces))) - set(rejected):
            self.accepted.append((pieces[index], decode(pieces[index])))

    def drain(self, client: httpx.Client) -> None:
        """Wait until nothing waits."""
        deadline = time.monotonic() + _DRAIN_SECONDS
        while "memtrace_queue_packets 0.0" not in client.get("/metrics").text:
            assert time.monotonic() < deadline, "a packet is stuck"
            time.sleep(0.05)

    async def check(self) -> tuple[int, int]:
        """See that each event is in the graph or among the dead letters; how many are where."""
        async with (
            await open_store(self.server.place.settings()) as database,
            await open_journal(self._journal, 1 << 40) as journal,
        ):
            letters = await journal.letters(self.server.project).page(limit=1_000_000)
            for letter in letters:
                assert "unexpected" not in letter.reason, letter
            dead = {letter.event for letter in letters}
            assert dead <= {piece for piece, _ in self.accepted}
            found = await self._found(database, dead)
        return found, len(dead)

    async def _found(self, database: Database, dead: set[bytes]) -> int:
        store = database.project(self.server.project)
        by_trace: dict[str, list[tuple[bytes, Event]]] = defaultdict(list)
        for piece, event in self.accepted:
            by_trace[event.trace].append((piece, event))
        found = 0
        for trace, sent in by_trace.items():
            graph = await graph_of(store, trace)
            graph.check()
            await store.values(list(graph.variables.values()))  # raises where one is gone
            for piece, event in sent:
                is_there = graph.holds(event)
                found += is_there
                assert is_there or piece in dead, (trace, piece)
            assert graph.elements() <= {made_by(graph.id, event) for _, event in sent}
        return found


def _pieces(request: Request, body: bytes) -> list[bytes]:
    """The events of a request that was understood."""
    if request.encoding is not None and request.encoding.lower() == "gzip":
        body = gzip.decompress(body)
    elif request.encoding is not None and request.encoding.lower() == "zstd":
        body = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(body), read_across_frames=True).read()
    return Sent.json(body).pieces if request.kind == JSON else [line for line in body.split(b"\n") if line.strip()]


@pytest.fixture
def door(place: Place, tmp_path: Path) -> Iterator[Door]:
    """A server that tries each event once."""
    journal = tmp_path / "journal"
    settings = {"journal": journal, "event_tries": 1, "rate_limit": "1000000/second", "log_level": "warning"}
    own = sqlite_place(tmp_path) if place.store.startswith("sqlite") else place
    with running(own, tmp_path, **settings) as server:
        yield Door(server, journal)


def test_requests(door: Door) -> None:
    """Each gets an answer that is documented, and what it says is true."""
    # Few say nothing: most of the first ones are refused.
    examples = REQUESTS if door.server.place.store.startswith("sqlite") else max(EXAMPLES, 2 * _TOGETHER)
    with door.server.client("writer") as client:
        run = hypothesis.given(requests())(lambda request: door.post(client, request))
        _settings(examples)(run)()
    with door.server.client() as client:
        door.drain(client)
    assert door.sent >= examples
    found, dead = asyncio.run(door.check())
    assert found > examples // 2
    if examples >= _MANY:
        assert dead > examples // 10
        assert door.statuses.keys() == {200, 400, 413, 415}
    assert door.server.stop() == 0
    for trouble in ("Traceback", "unexpected", '"level": "error"', '"level":"error"'):
        assert trouble not in door.server.log_text + door.server.said


async def test_events_in_parts(tmp_path: Path) -> None:
    """Taken in parts, and all once more: what is refused is not there, and what is not refused is, for good."""
    async with await open_database(f"sqlite:///{tmp_path / 'store.db'}") as database:
        parts = _Parts(database.project("fuzz"))
        loop = asyncio.get_running_loop()

        def take(pieces: list[bytes], cut: int) -> None:
            asyncio.run_coroutine_threadsafe(parts.take(pieces, cut), loop).result()

        run = hypothesis.given(lines(), st.integers(0, 17))(take)
        await asyncio.to_thread(_settings(REQUESTS)(run))
    assert parts.examples >= REQUESTS
    assert parts.taken > 2 * REQUESTS
    assert parts.refused > REQUESTS // 4


class _Parts:
    """Takes events in two parts, the second of which holds them all."""

    def __init__(self, store: GraphStore) -> None:
        self.examples = self.taken = self.refused = 0
        self._store = store

    async def take(self, pieces: list[bytes], cut: int) -> None:
        """Send events, and check each event's result."""
        events = list(_events(pieces, f"f{self.examples}"))
        self.examples += 1
        first = await self._refused(events[:cut])
        refused = await self._refused(events)
        assert refused <= first | set(range(cut, len(events))), "taken, and refused when it came again"
        graphs = {trace: await graph_of(self._store, trace) for trace in {event.trace for event in events}}
        for graph in graphs.values():
            graph.check()
        for index, event in enumerate(events):
            assert index in refused or graphs[event.trace].holds(event), event
        self.taken += len(events) - len(refused)
        self.refused += len(refused)

    async def _refused(self, events: list[Event]) -> set[int]:
        refused = await take_events(self._store, events)
        assert all(one.reason for one in refused)
        places = [one.index for one in refused]
        assert places == sorted(set(places))
        assert set(places) <= set(range(len(events)))
        return set(places)


def _events(pieces: list[bytes], token: str) -> Iterator[Event]:
    for piece in pieces:
        try:
            yield decode(in_traces(piece, token))
        except EventError:
            continue
