"""Events end to end: from the sender through the queue into the graph, beside the store's own writes."""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from memtrace.events import decode

from api.local_servers.nats import LocalNats, LocalNatsError, MissingExtraError
from benchmarks.agent_traces import applications, conversation
from benchmarks.context import Context, say
from benchmarks.generated import layout_key
from benchmarks.ingest_load import Steady, drained, empty, send_all
from benchmarks.neo4j_server import ServerError
from benchmarks.ready import Ready, ready, write_ready
from benchmarks.report import Section, Table, at_least, milliseconds, per_second, percent, raw, spread
from benchmarks.serving import Place, Serving, serving, working
from benchmarks.timing import Contender, alternate, ratio
from ingest.queue.nats.connection import NatsPlace
from ingest.queue.nats.queue import NatsQueue, open_nats
from ingest.queue.packets import pack
from ingest.queue.protocol import LEASE_SECONDS, Packet
from store.contract.protocol import Database, GraphStore
from store.open import open_database

_LEAST_RATIO = 0.7
_RUNS, _WARM_UPS = 5, 1
_WRITERS = 4
"""How many batches a worker writes at a time, and how many requests senders send at a time."""
_CONVERSATIONS, _TURNS = 32, 25
_STEADY_CONVERSATIONS, _STEADY_INTERVAL, _STEADY_SECONDS = 8, 0.8, 30.0
_QUEUE_BYTES = 4 << 30
_STORE = "store.write"


class _Size:
    """How much is sent."""

    def __init__(self, context: Context) -> None:
        quick = context.quick
        self.runs = 1 if quick else _RUNS
        self.warm_ups = 0 if quick else _WARM_UPS
        conversations, turns = (4, 3) if quick else (_CONVERSATIONS, _TURNS)
        self.conversations = [conversation(f"t{number}", turns) for number in range(conversations)]
        self.events = sum(map(len, self.conversations))
        self.steady_turns = 3 if quick else round(_STEADY_SECONDS / _STEADY_INTERVAL)

    def steady(self) -> list[list[list[bytes]]]:
        """The requests of each conversation, a turn each."""
        made = [conversation(f"s{number}", self.steady_turns) for number in range(_STEADY_CONVERSATIONS)]
        return [_cut(lines, self.steady_turns) for lines in made]


async def through_nats(context: Context) -> Section:
    """Through NATS into Neo4j, by workers of their own."""
    section = Section("Events through NATS into Neo4j")
    try:
        server = await context.server.get(layout_key("neo4j"))
    except ServerError as error:
        return _missing(section, f"no Neo4j can be had: {error}")
    with context.scratch() as folder:
        nats = LocalNats(folder / "nats", port=0)
        try:
            running = await asyncio.to_thread(nats.start, guarded=True)
        except (LocalNatsError, MissingExtraError) as error:
            return _missing(section, f"no NATS can be had: {error}")
        more = {
            "MEMTRACE_NATS": running.uri,
            "MEMTRACE_NATS_USER": running.user,
            "MEMTRACE_NATS_PASSWORD_FILE": str(running.password_file),
        }
        password = running.password_file.read_text("utf-8").strip()
        place = Place(server.uri, (folder / "values").as_uri(), server.credentials, more)
        try:
            async with (
                await open_database(place.uri, place.values, place.credentials) as database,
                await open_nats(NatsPlace(running.uri, running.user, password), _QUEUE_BYTES) as queue,
            ):
                await database.migrate()
                bench = _Bench(context, section, database, folder)
                await bench.workers(place, queue)
        finally:
            await asyncio.to_thread(nats.stop)
    section.notes.append(f"Neo4j {server.version} and one NATS server on the same machine.")
    return section


async def embedded(context: Context) -> Section:
    """Through the journal of one server, into SQLite and into Neo4j."""
    section = Section("Events through the journal of one server")
    with context.scratch() as folder:
        await _embedded(context, section, Place(f"sqlite:///{folder / 'store.db'}"), folder, "SQLite")
    try:
        server = await context.server.get(layout_key("neo4j"))
    except ServerError as error:
        section.missing.append(f"no Neo4j can be had: {error}")
        return section
    with context.scratch() as folder:
        place = Place(server.uri, (folder / "values").as_uri(), server.credentials)
        await _embedded(context, section, place, folder, "Neo4j")
    return section


async def _embedded(context: Context, section: Section, place: Place, folder: Path, engine: str) -> None:
    async with await open_database(place.uri, place.values, place.credentials) as database:
        await database.migrate()
        await _Bench(context, section, database, folder).server(place, engine)


class _Bench:
    def __init__(self, context: Context, section: Section, database: Database, folder: Path) -> None:
        self.size = _Size(context)
        self.section = section
        self.database = database
        self.folder = folder
        self.projects: list[GraphStore] = []

    async def workers(self, place: Place, queue: NatsQueue) -> None:
        """Measure `memtrace worker`, and a server that only takes."""
        contenders = {_STORE: self._store, "1 worker": self._drain(place, queue, 1)}
        contenders["2 workers"] = self._drain(place, queue, 2)
        try:
            await self._taking(place, queue)
            await self._compare("NATS, Neo4j", contenders, ["1 worker", "2 workers"])
            async with _workers(place, 1), self._serving(place) as (server, store):
                await self._steady("NATS, Neo4j", server, store)
        finally:
            await self._remove()

    async def server(self, place: Place, engine: str) -> None:
        """Measure a server that takes and writes."""
        name = f"journal, {engine}"
        try:
            async with self._serving(place) as (server, store):

                async def ours(run: int) -> float:
                    began = time.perf_counter()
                    acknowledged = await send_all(server, applications(self._unlike(run)), _WRITERS)
                    await empty(server)
                    self.section.numbers.setdefault(f"acknowledged, {name}", []).append(self.size.events / acknowledged)
                    return time.perf_counter() - began

                await self._compare(name, {_STORE: self._store, "one server": ours}, [])
                await self._steady(name, server, store)
        finally:
            await self._remove()

    def _unlike(self, run: int) -> list[list[bytes]]:
        """The same conversations in other traces, because writing what is there already would cost less."""
        return [
            [line.replace(b'"trace":"t', b'"trace":"run %d t' % run, 1) for line in lines]
            for lines in self.size.conversations
        ]

    async def _store(self, run: int) -> float:
        store = self._project()
        made: list[Ready] = await ready(store.project_id, self.size.conversations, self.folder)
        began = time.perf_counter()
        await write_ready(store, made, _WRITERS)
        return time.perf_counter() - began

    def _drain(self, place: Place, queue: NatsQueue, workers: int) -> Contender:
        async def drain(run: int) -> float:
            store = self._project()
            sent = applications(self.size.conversations)
            packets = [packet for one in sent for lines in one for packet in _packets(store, lines)]
            async with _workers(place, workers) as pids:
                # The whole backlog is there before the first event is taken, and connections are open.
                await queue.put(_packets(self._project(), self.size.conversations[0][:100]))
                await drained(queue)
                for pid in pids:
                    os.kill(pid, signal.SIGSTOP)
                await queue.put(packets)
                began = time.perf_counter()
                for pid in pids:
                    os.kill(pid, signal.SIGCONT)
                await drained(queue)
                seconds = time.perf_counter() - began
            await self._check(queue, store)
            return seconds

        return drain

    async def _check(self, queue: NatsQueue, store: GraphStore) -> None:
        """Check that the whole backlog is in the store: losing events quickly must not count as fast."""
        letters = await queue.letters(store.project_id).page()
        traces = (await store.traces(1000)).items
        if letters or len(traces) != len(self.size.conversations):
            reason = f", such as: {letters[0].reason}" if letters else ""
            raise RuntimeError(f"{len(traces)} traces of {len(self.size.conversations)}, and dead letters{reason}")

    async def _taking(self, place: Place, queue: NatsQueue) -> None:
        """How many events one server acknowledges while nothing is written, and how many bytes the queue takes."""
        say("events: one server that takes")
        async with self._serving(place) as (server, _):
            seconds = await send_all(server, applications(self.size.conversations), _WRITERS)
            state = await queue.state()
        async with _workers(place, 1):
            await drained(queue)
        events = self.size.events
        size = sum(len(line) + 1 for lines in self.size.conversations for line in lines)
        table = Table(("a server that takes", ""))
        table.add("acknowledged", per_second(events / seconds))
        table.add("an event, as JSON", f"{size / events:.0f} bytes")
        table.add("an event in the queue", f"{state.bytes / events:.0f} bytes")
        table.add("a packet", f"{events / state.packets:.0f} events")
        self.section.tables.append(table)
        self.section.numbers |= {
            "acknowledged a second": events / seconds,
            "queue bytes an event": state.bytes / events,
        }

    async def _compare(self, name: str, contenders: dict[str, Contender], goals: Sequence[str]) -> None:
        say(f"events: {name}, writing")
        found = await alternate(self.size.runs, contenders, self.size.warm_ups)
        rates = {one: series.map(lambda seconds: self.size.events / seconds) for one, series in found.items()}
        table = Table((name, f"median of {self.size.runs} (least – most)", "to store.write"))
        for one, series in rates.items():
            share = ratio(series, rates[_STORE])
            table.add(one, spread(series, per_second), "" if one == _STORE else spread(share, percent))
            if one in goals:
                figure = f"events a second through NATS into Neo4j, {one}, to the store's own"
                self.section.goals.append(at_least(figure, _LEAST_RATIO, share.value, percent))
        self.section.tables.append(table)
        self.section.numbers[name] = {"events": self.size.events, "seconds": raw(found)}
        self.section.notes.append(
            f"{name}: {len(self.size.conversations)} conversations of a memory agent, {self.size.events:,} events a "
            f"run. `{_STORE}` writes the same elements from ready batches, a trace each, {_WRITERS} at a time; each "
            "run is a project of its own, in turns. Senders, queue, writers and store share this machine, whose load "
            f"at the end was {os.getloadavg()[0]:.1f}."
        )

    async def _steady(self, name: str, server: Serving, store: GraphStore) -> None:
        say(f"events: {name}, steady load")
        steady = Steady()
        await steady.run(server, store, self.size.steady(), _STEADY_INTERVAL)
        table = Table((f"{name}, steady load", "p50", "p95", "p99", "most"))
        for what, values in (("acknowledged", steady.acknowledged), ("then visible", steady.visible)):
            cuts = statistics.quantiles(values, n=100, method="inclusive")
            table.add(what, *(milliseconds(cuts[number - 1]) for number in (50, 95, 99)), milliseconds(max(values)))
        self.section.tables.append(table)
        self.section.numbers[f"{name}, steady"] = {"acknowledged": steady.acknowledged, "visible": steady.visible}
        self.section.notes.append(
            f"{name}, steady load: {len(steady.visible)} requests of a turn (about 48 events), "
            f"{_STEADY_CONVERSATIONS / _STEADY_INTERVAL:.0f} a second; visible is what `GraphStore.get` answers."
        )

    @asynccontextmanager
    async def _serving(self, place: Place) -> AsyncIterator[tuple[Serving, GraphStore]]:
        store = self._project()
        async with serving(place, store.project_id, "writer") as server:
            yield server, store

    def _project(self) -> GraphStore:
        store = self.database.project(f"ingest-{uuid.uuid4().hex}")
        self.projects.append(store)
        return store

    async def _remove(self) -> None:
        say("events: removing what was written")
        for store in self.projects:
            for trace in (await store.traces(1000)).items:
                await store.delete_trace(trace.id)


@asynccontextmanager
async def _workers(place: Place, count: int) -> AsyncIterator[list[int]]:
    """Workers that have divided the lanes among them."""
    async with AsyncExitStack() as stack:
        pids = [await stack.enter_async_context(working(place)) for _ in range(count)]
        if count > 1:
            await asyncio.sleep(LEASE_SECONDS * 2 / 3)  # the first gives half of the lanes to the second
        yield pids


def _packets(store: GraphStore, lines: Sequence[bytes]) -> list[Packet]:
    return [packet for packet, _ in pack(store.project_id, [(line, decode(line)) for line in lines])]


def _cut(lines: list[bytes], parts: int) -> list[list[bytes]]:
    size = -(-len(lines) // parts)
    return [lines[start : start + size] for start in range(0, len(lines), size)]


def _missing(section: Section, reason: str) -> Section:
    section.missing.append(reason)
    for one in ("1 worker", "2 workers"):
        figure = f"events a second through NATS into Neo4j, {one}, to the store's own"
        section.goals.append(at_least(figure, _LEAST_RATIO, None, percent))
    return section
