"""What a project notices while hostile clients attack the same server in all ways at once."""

from __future__ import annotations

import asyncio
import itertools
import json
import resource
import signal
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import psutil

from benchmarks import hostile_bodies as bodies
from benchmarks.context import ROOT, Context, say
from benchmarks.report import Section, Table, at_most, megabytes, milliseconds, seconds
from benchmarks.serving import Place, Serving, make_key, serving
from schema.ids import make_id, trace_id
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.open import open_database

_SECONDS, _QUICK_SECONDS = 60.0, 5.0
_CALM_SECONDS = 10.0
_PATIENCE_SECONDS, _HEALTH_SECONDS = 120.0, 10.0
_NONE_KEPT = httpx.Limits(max_keepalive_connections=0)
_INTERVAL_SECONDS = 0.1
_FILES = 1024
_PROJECT = "honest"
_ATTACKERS = {
    "attributes": "writer",
    "attributes-of-one": "writer",
    "base": "writer",
    "introspection": "reader",
    "diff": "writer",
    "answers": "writer",
    "import": "writer",
    "values": "writer",
}
"""Projects of hostile clients, and the role of their keys."""

_MOST_ACKNOWLEDGED, _MOST_VISIBLE, _MOST_HEALTH, _MOST_BYTES = 1.0, 5.0, 0.2, 1e9


@dataclass(slots=True)
class _Noticed:
    """Seconds of each request, and what failed.

    Attributes:
        acknowledged: from sending an event to its acknowledgement.
        visible: from the acknowledgement until the event can be read from the store.
        health: of `/healthz`.
        most_bytes: of the server and the processes that it started, resident, at the same moment.
    """

    acknowledged: list[float] = field(default_factory=list)
    visible: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    most_bytes: int = 0
    failed: list[str] = field(default_factory=list)


async def run(context: Context) -> Section:
    """An honest project alone, and then beside all attacks."""
    section = Section("Hostile clients")
    long = _QUICK_SECONDS if context.quick else _SECONDS
    with context.scratch() as folder:
        place = Place(f"sqlite:///{folder / 'store.db'}", more={"MEMTRACE_RATE_LIMIT": "1200/minute"})
        async with await open_database(place.uri) as database:
            store = database.project(_PROJECT)
            with _few_files():
                async with serving(place, _PROJECT, "writer") as server:
                    keys = {name: await make_key(place, name, role) for name, role in _ATTACKERS.items()}
                    say("hostile clients: an honest project alone")
                    calm = await _notice(server, store, min(_CALM_SECONDS, long))
                    async with _attacking({"url": server.url, "keys": keys}) as found:
                        say(f"hostile clients: all attacks for {long:.0f} s")
                        attacked = await _notice(server, store, long)
                    async with _attacking({"url": server.url, "keys": keys, "answers": True}) as with_answers:
                        say(f"hostile clients: all attacks and large answers for {long / 2:.0f} s")
                        more = await _notice(server, store, long / 2)
                    told = time.perf_counter()
                stopped = time.perf_counter() - told
    _report(section, calm, attacked, found, stopped)
    _report_answers(section, more, with_answers)
    return section


async def _notice(server: Serving, store: GraphStore, long: float) -> _Noticed:
    """What the honest project notices in so many seconds."""
    noticed = _Noticed()
    until = time.perf_counter() + long
    waiting: dict[str, float] = {}
    watching = asyncio.create_task(_watch(server, noticed))
    headers = {"Authorization": f"Bearer {server.key}"}
    try:
        async with (
            httpx.AsyncClient(base_url=server.url, headers=headers, timeout=_PATIENCE_SECONDS) as client,
            httpx.AsyncClient(base_url=server.url, timeout=_HEALTH_SECONDS, limits=_NONE_KEPT) as balancer,
            asyncio.timeout(long + _PATIENCE_SECONDS),
        ):
            sending = asyncio.gather(_send(client, noticed, waiting, until), _ask(balancer, noticed, until))
            looking = asyncio.create_task(_look(store, noticed, waiting, sending))
            await asyncio.gather(sending, looking)
    except TimeoutError:
        noticed.failed.append(f"{len(waiting)} events were not in the graph {_PATIENCE_SECONDS:.0f} s after the end")
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
    return noticed


async def _send(client: httpx.AsyncClient, noticed: _Noticed, waiting: dict[str, float], until: float) -> None:
    """An event every tenth of a second, each in a trace of ten."""
    for number in itertools.count():
        due = time.perf_counter() + _INTERVAL_SECONDS
        if due > until:
            return
        trace, name = f"t{number // 10}-{until}", f"v{number}"
        body = bodies.lines([bodies.message(trace, name, f"message {number}")])
        began = time.perf_counter()
        answer = await client.post(
            "/v1/events", content=body, headers={"Content-Type": "application/x-ndjson", "Content-Encoding": "zstd"}
        )
        taken = time.perf_counter() - began
        if answer.status_code == 200 and not answer.json()["rejected"]:
            noticed.acknowledged.append(taken)
            waiting[make_id("Variable", trace_id(_PROJECT, trace), name)] = time.perf_counter()
        else:
            noticed.failed.append(f"event: {answer.status_code} {answer.text[:200]}")
        await asyncio.sleep(max(0.0, due - time.perf_counter()))


async def _ask(client: httpx.AsyncClient, noticed: _Noticed, until: float) -> None:
    """`/healthz` every tenth of a second, each time on a new connection."""
    while time.perf_counter() < until:
        began = time.perf_counter()
        try:
            answer = await client.get("/healthz")
            if answer.status_code != 200:
                noticed.failed.append(f"healthz: {answer.status_code}")
        except httpx.HTTPError as error:
            noticed.failed.append(f"healthz: {type(error).__name__}")
        noticed.health.append(time.perf_counter() - began)
        await asyncio.sleep(_INTERVAL_SECONDS)


async def _look(store: GraphStore, noticed: _Noticed, waiting: dict[str, float], sending: asyncio.Future[Any]) -> None:
    while waiting or not sending.done():
        for found in await store.get(Label.VARIABLE, list(waiting)):
            noticed.visible.append(time.perf_counter() - waiting.pop(found.id))
        await asyncio.sleep(0.02)


async def _watch(server: Serving, noticed: _Noticed) -> None:
    root = psutil.Process(server.pid)
    while True:
        total = 0
        for process in (root, *root.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                total += process.memory_info().rss
        noticed.most_bytes = max(noticed.most_bytes, total)
        await asyncio.sleep(0.1)


@asynccontextmanager
async def _attacking(plan: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Hostile clients in a process of their own; what they saw is filled in at the end."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchmarks.hostile_clients",
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    found: dict[str, Any] = {}
    try:
        child.stdin.write(json.dumps(plan).encode() + b"\n")
        await child.stdin.drain()
        if await child.stdout.readline() != b"attacking\n":
            raise RuntimeError("the hostile clients did not begin")
        yield found
    finally:
        with suppress(ProcessLookupError):
            child.send_signal(signal.SIGTERM)
        output = await child.stdout.read()
        await child.wait()
    found |= json.loads(output)


@contextmanager
def _few_files() -> Iterator[None]:
    """Processes that start meanwhile may open as many files as is usual, and no more."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(_FILES, before[1]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def _report(section: Section, calm: _Noticed, attacked: _Noticed, found: dict[str, Any], stopped: float) -> None:
    table = Table(("the honest project", "alone: p50", "p99", "most", "attacked: p50", "p99", "most"))
    for name, of in _SERIES.items():
        table.add(name, *_cuts(of(calm)), *_cuts(of(attacked)))
    section.tables.append(table)
    attacks = Table(("attack", "answers"))
    for name, answers in found["seen"].items():
        attacks.add(name, ", ".join(f"{count:,} × {answer}" for answer, count in sorted(answers.items())))
    section.tables.append(attacks)
    section.notes.append(
        f"One server on SQLite with its settings as they are by default and at most {_FILES:,} open files. An honest "
        f"project sends an event and asks for `/healthz` every {_INTERVAL_SECONDS:.1f} s, alone and then while hostile "
        f"clients of seven other projects, at another address, do all of this at the same time, as fast as they are "
        f"let. Server, clients and attacks share this machine. The server then stopped in {stopped:.1f} s."
    )
    failed = [*calm.failed, *attacked.failed, *found["ended"]]
    if failed:
        section.notes.append(f"**Failed: {len(failed)}, such as {'; '.join(failed[:3])}**")
    section.numbers |= {"attacks": found["seen"], "failed": len(failed), "stoppedSeconds": stopped}
    section.numbers |= {name: {"alone": of(calm), "attacked": of(attacked)} for name, of in _SERIES.items()}
    goal = section.goals.append
    goal(at_most("attacked: an event is acknowledged within", _MOST_ACKNOWLEDGED, max(attacked.acknowledged), seconds))
    goal(at_most("attacked: it is in the graph within", _MOST_VISIBLE, max(attacked.visible), seconds))
    goal(at_most("attacked: `/healthz` answers within", _MOST_HEALTH, max(attacked.health), milliseconds))
    goal(at_most("attacked: memory of the server and its children", _MOST_BYTES, attacked.most_bytes, megabytes))
    goal(at_most("attacked: requests of the honest project that failed", 0, len(failed), lambda value: f"{value:.0f}"))


def _report_answers(section: Section, noticed: _Noticed, found: dict[str, Any]) -> None:
    table = Table(("with large answers as well", "p50", "p99", "most"))
    for name, of in _SERIES.items():
        table.add(name, *_cuts(of(noticed)))
    section.tables.append(table)
    failed = [*noticed.failed, *found["ended"]]
    section.notes.append(
        "Then the same for half as long, while another client asks GraphQL for as much as it may, again and again: "
        f"{sum(found['seen'].get('answers', {}).values())} such answers; {len(failed)} requests of the honest "
        "project failed."
    )
    section.numbers |= {"answers": found["seen"], "failedWithAnswers": len(failed)}
    section.numbers |= {f"{name}, with answers": of(noticed) for name, of in _SERIES.items()}


_SERIES: dict[str, Callable[[_Noticed], list[float]]] = {
    "an event is acknowledged": lambda noticed: noticed.acknowledged,
    "then it is in the graph": lambda noticed: noticed.visible,
    "`/healthz`": lambda noticed: noticed.health,
}


def _cuts(values: list[float]) -> tuple[str, str, str]:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return milliseconds(cuts[49]), milliseconds(cuts[98]), milliseconds(max(values))
