"""Web pages: how long the server takes for the HTML of each while 20 people click, and how large what they load is."""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import httpx

from attribution.run import Options, attribute
from attribution.verdicts.stored import every_failure
from benchmarks.context import ROOT, Context, say
from benchmarks.generated import layout_key
from benchmarks.generator import QUICK, Shape, answer_of, batch_of, trace_of
from benchmarks.neo4j_server import ServerError
from benchmarks.report import Section, Table, at_most, milliseconds
from benchmarks.serving import Place, Serving, serving
from schema.ids import make_id
from schema.kinds import ErrorType, Origin, VariableKind
from schema.models import Attribution, Batch, Failure, Variable
from store.contract.protocol import GraphStore
from store.open import open_database

_PEOPLE, _LOOKS = 20, 2.0
_SECONDS, _QUICK_SECONDS = 45, 5
_SHAPE = Shape(traces=2, variables=6000, width=20)
_FAILURES, _QUICK_FAILURES = 50_000, 500
_AT_ONCE = 5_000
_DEEP = 200
"""How many pages of failures are turned before the deep one."""
_COOKIE = "__Host-memtrace"
_MOST_ASSETS = 150_000
_START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What is aimed at, in seconds."""

    median: float
    rare: float


async def in_sqlite(context: Context) -> Section:
    """Measure on a new SQLite file."""
    section = Section("Web pages on SQLite")
    with context.scratch() as folder:
        place = Place(f"sqlite:///{folder / 'pages.db'}", None, None)
        await _measure(context, place, section, "SQLite", _Bounds(0.15, 0.5))
    return section


async def in_neo4j(context: Context) -> Section:
    """Measure on projects of a Neo4j server, which are emptied again."""
    section = Section("Web pages on Neo4j")
    try:
        server = await context.server.get(layout_key("neo4j"))
    except ServerError as error:
        section.missing.append(f"no Neo4j can be had: {error}")
        return section
    with context.scratch() as folder:
        place = Place(server.uri, (folder / "values").as_uri(), server.credentials)
        await _measure(context, place, section, "Neo4j", _Bounds(0.3, 1.0))
    section.notes.append(f"Neo4j {server.version} on the same machine.")
    return section


async def _measure(context: Context, place: Place, section: Section, engine: str, bounds: _Bounds) -> None:
    shape = replace(QUICK, traces=2) if context.quick else _SHAPE
    few, many = f"pages-{uuid.uuid4().hex}", f"failures-{uuid.uuid4().hex}"
    say(f"pages on {engine}: making a store")
    async with await open_database(place.uri, place.values, place.credentials) as database:
        await database.migrate()
        stores = [database.project(few), database.project(many)]
        try:
            failures = await _prepare(stores[0], shape)
            await _many_failures(stores[1], shape, _QUICK_FAILURES if context.quick else _FAILURES)
            async with serving(place, few) as server:
                say(f"pages on {engine}: {_PEOPLE} people")
                found = await _click(context, server, _pages(few, shape, failures[0]))
                if engine == "SQLite":
                    await _assets(server.url, server.key, _pages(few, shape, failures[0]), section)
            async with serving(place, many) as server:
                say(f"pages on {engine}: many failures")
                turned = await _turn(server.url, server.key, many, context)
                clicked = await _click(context, server, turned)
        finally:
            for store in stores:
                for trace in (await store.traces(1000)).items:
                    await store.delete_trace(trace.id)
    count = _QUICK_FAILURES if context.quick else _FAILURES
    table = Table(("page", "opened", "median", "95 %", "slowest", "processor, first", "processor, again"))
    _report(found, section, table, "")
    _report(clicked, section, table, f" of {count:,}")
    section.tables.append(table)
    for name, one in ((f"all pages on {engine}", found), (f"failures of {count:,} on {engine}", clicked)):
        everything = sorted(value for values in one["taken"].values() for value in values)
        rare = everything[min(len(everything) - 1, int(0.95 * len(everything)))]
        section.goals.append(at_most(f"{name}, median", bounds.median, statistics.median(everything), milliseconds))
        section.goals.append(at_most(f"{name}, 95 %", bounds.rare, rare, milliseconds))
        section.goals.append(at_most(f"errors, {name}", 0, one["failed"], lambda value: f"{value:.0f}"))
        if one["failed"]:
            section.notes.append(f"Errors, some of them: {'; '.join(one['errors'][:3])}")
    section.notes.append(
        f"{_PEOPLE} people for {found['seconds']:.0f} s over real HTTP, each of whom opens a page by chance and looks "
        f"at it for {_LOOKS:.0f} s on average before the next; the time until the whole HTML is there. {shape}: with "
        f"what operations used, each trace has about {_elements(shape):,} elements. Server, clients and store share "
        "this machine; one server process. Processor time is that of the server for one look while nobody else clicks, "
        "to 10 ms for the first and as a mean of four for later ones: it hardly depends on other work on the machine."
    )


def _elements(shape: Shape) -> int:
    return shape.variables * 9 // 2


async def _prepare(store: GraphStore, shape: Shape) -> list[str]:
    """Two traces with a failure each, and a verdict of the free pass on it; the ids of the failures."""
    for number in range(shape.traces):
        batch = batch_of(store.project_id, shape, number)
        await store.write(batch)
        await store.write(_failures_of(batch, shape, number, 1))
    failures = await every_failure(store, None)
    async for _ in attribute(store, failures, Options()):
        pass
    return [failure.id for failure in failures]


async def _many_failures(store: GraphStore, shape: Shape, count: int) -> None:
    """So many failures in one trace, each with a verdict."""
    batch = batch_of(store.project_id, shape, 0)
    await store.write(batch)
    for start in range(0, count, _AT_ONCE):
        await store.write(_failures_of(batch, shape, 0, min(_AT_ONCE, count - start), start, verdicts=True))


def _failures_of(batch: Batch, shape: Shape, number: int, count: int, start: int = 0, verdicts: bool = False) -> Batch:
    trace = batch.trace
    question, evidence = batch.variables[2], batch.variables[1]
    answer = answer_of(trace.project_id, shape, number)
    types = list(ErrorType)
    failures = [
        Failure(
            id=make_id("Failure", trace.id, str(place)),
            project_id=trace.project_id,
            trace_id=trace.id,
            origin=Origin.JUDGE,
            question_id=question.id,
            answer_id=answer,
            expected_id=None,
            evidence_ids=(evidence.id,),
            question=f"{place}: {question.preview[:80]}?",
            prediction=_value(batch, answer).preview[:120],
            gold_answers=(evidence.preview[:40],),
            created_at=_START,
        )
        for place in range(start, start + count)
    ]
    given = [
        Attribution(
            id=make_id("Attribution", failure.id, "flow"),
            project_id=trace.project_id,
            trace_id=trace.id,
            failure_id=failure.id,
            error_type=types[place % len(types)],
            operation_id=batch.operations[place % 40].id,
            confidence=0.9,
            method="flow",
            model=None,
            reason="made for a benchmark",
            evidence="[]",
            candidates="[]",
            tokens=None,
            cost=None,
            seconds=0.001,
            created_at=_START,
            author=None,
        )
        for place, failure in enumerate(failures)
    ]
    return Batch(trace, failures=failures, attributions=given if verdicts else [])


def _value(batch: Batch, id_: str) -> Variable:
    return next(one for one in reversed(batch.variables) if one.id == id_)


def _pages(project: str, shape: Shape, failure: str) -> dict[str, str]:
    base = f"/ui/projects/{project}"
    batch = batch_of(project, shape, 0)
    trace, other = (trace_of(project, number) for number in range(2))
    answer = answer_of(project, shape, 0)
    unit = next(one.id for one in batch.variables[shape.variables // 2 :] if one.kind is VariableKind.MEMORY_UNIT)
    operation = batch.operations[len(batch.operations) // 2].id
    middle = len(batch.operations) // 2
    return {
        "overview": base,
        "failures": f"{base}/failures",
        "failure": f"{base}/failures/{failure}",
        "blame": f"{base}/blame",
        "compare traces": f"{base}/compare?before={trace}&after={other}",
        "compare methods": f"{base}/compare?by=methods&before=flow&after=flow",
        "trace": f"{base}/traces/{trace}",
        "trace, from its middle": f"{base}/traces/{trace}?from={middle}",
        "memory": f"{base}/traces/{trace}/memory",
        "memory at a moment": f"{base}/traces/{trace}/memory?asOf={middle}",
        "memory unit": f"{base}/traces/{trace}/memory?unit={unit}",
        "operation": f"{base}/operations/{operation}",
        "variable": f"{base}/variables/{unit}",
        "what came of it": f"{base}/variables/{unit}/impact",
        "graph": f"{base}/variables/{answer}/graph",
        "search": f"{base}/search?text=ka",
        "settings": f"{base}/settings",
        "jobs": f"{base}/jobs",
        "help": "/ui/help",
    }


async def _turn(url: str, key: str, project: str, context: Context) -> dict[str, str]:
    """The first page of failures, a deep one, and filtered ones."""
    base = f"/ui/projects/{project}/failures"
    address = base
    pages = 3 if context.quick else _DEEP
    async with httpx.AsyncClient(base_url=url, headers={"Cookie": f"{_COOKIE}={key}"}, timeout=60) as client:
        for _ in range(pages):
            text = (await client.get(address)).text
            found = re.search(r'rel="next" href="([^"]+)"', text)
            if found is None:
                raise RuntimeError(f"{address} has no next page")
            address = found[1].replace("&amp;", "&")
    return {
        "failures, first page": base,
        f"failures, page {pages + 1}": address,
        "failures, by type": f"{base}?type=UpdateError",
        "failures, by words": f"{base}?text=49",
    }


async def _click(context: Context, server: Serving, pages: Mapping[str, str]) -> dict[str, Any]:
    plan = {
        "url": server.url,
        "key": server.key,
        "pid": server.pid,
        "cookie": _COOKIE,
        "pages": dict(pages),
        "people": _PEOPLE,
        "looks": _LOOKS,
        "seconds": _QUICK_SECONDS if context.quick else _SECONDS,
    }
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchmarks.pages_client",
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await child.communicate(json.dumps(plan).encode())
    if child.returncode:
        raise RuntimeError(f"the people failed:\n{errors.decode(errors='replace')}")
    found: dict[str, Any] = json.loads(output)
    return found


async def _assets(url: str, key: str, pages: Mapping[str, str], section: Section) -> None:
    """What each page loads beside its HTML, as it comes over the wire."""
    table = Table(("page", "files", "compressed"))
    most = 0
    async with httpx.AsyncClient(base_url=url, headers={"Cookie": f"{_COOKIE}={key}"}, timeout=60) as client:
        for name in ("overview", "failure", "trace", "memory", "graph"):
            html = (await client.get(pages[name])).text
            waiting = re.findall(r'(?:src|href)="(/ui/assets/[^"]+)"', html)
            seen: dict[str, int] = {}
            while waiting:
                address = waiting.pop()
                if address in seen:
                    continue
                async with client.stream("GET", address) as answer:
                    text = (await answer.aread()).decode()
                    seen[address] = answer.num_bytes_downloaded
                # Modules name each other, and the graph's worker.
                for one in re.findall(r'(?:from |new URL\()"([./\w-]*worker\.js|\.{1,2}/[^"]+\.js)"', text):
                    waiting.append(str(httpx.URL(address).join(one)))
            table.add(name, str(len(seen)), f"{sum(seen.values()) / 1000:,.1f} KB")
            most = max(most, sum(seen.values()))
    section.tables.append(table)
    section.goals.append(
        at_most("what a page loads, compressed", _MOST_ASSETS, most, lambda value: f"{value / 1000:,.0f} KB")
    )


def _report(found: dict[str, Any], section: Section, table: Table, what: str) -> None:
    for name, values in found["taken"].items():
        if len(values) > 1:
            cuts = statistics.quantiles(values, n=100, method="inclusive")
            first, *again = found["alone"][name]
            used = ["", ""] if first is None else map(milliseconds, (first, statistics.fmean(again)))
            times = map(milliseconds, (cuts[49], cuts[94], max(values)))
            table.add(f"{name}{what}", f"{len(values):,}", *times, *used)
            section.numbers[f"{name}{what}"] = values
