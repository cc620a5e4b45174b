"""The server under load: 50 clients with mixed requests for a minute, on each engine."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attribution.run import Options, attribute
from attribution.verdicts.stored import every_failure
from benchmarks.context import ROOT, Context, say
from benchmarks.generated import fill, layout_key
from benchmarks.generator import QUICK, Shape, answer_of
from benchmarks.neo4j_server import ServerError
from benchmarks.report import Section, Table, at_most, milliseconds, per_second
from benchmarks.serving import Place, serving
from ingest.files.registry import import_path
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.open import open_database

_CLIENTS, _SECONDS, _QUICK_SECONDS = 50, 60, 3
_SHAPE = Shape(traces=4, variables=6000, width=20)
_SAMPLE = ROOT / "examples" / "sample" / "assistant.json"

_TRACES = """query($p: String!) { project(name: $p) { traces(first: 10) { nodes {
  id name counts { operations variables failures } } } } }"""
_FAILURES = """query($p: String!) { project(name: $p) { failures(first: 20) { nodes {
  question prediction
  verdicts { errorType confidence operation { name kind } evidence { variable { preview } } } } } } }"""
_VARIABLE = """query($p: String!, $v: String!) { project(name: $p) { variable(reference: $v) {
  id kind name value(length: 2000) { text } operation { name used(first: 5) { id kind } }
  derivedFrom { sourceVariable { id kind preview } } } } }"""
_LINEAGE = """query($p: String!, $v: String!) { project(name: $p) { variable(reference: $v) { lineage(maxNodes: 200) {
  nodes { id kind name } edges { source target } truncated frontier } } } }"""
_SEARCH = """query($p: String!, $w: String!) { project(name: $p) { search(text: $w, first: 10) {
  score snippet variable { id kind } } } }"""


async def in_sqlite(context: Context) -> Section:
    """Measure on a new SQLite file."""
    section = Section("Load on SQLite")
    with context.scratch() as folder:
        await _measure(context, Place(f"sqlite:///{folder / 'load.db'}", None, None), folder, section, "SQLite")
    return section


async def in_neo4j(context: Context) -> Section:
    """Measure on a project of a Neo4j server, which is emptied again."""
    section = Section("Load on Neo4j")
    try:
        server = await context.server.get(layout_key("neo4j"))
    except ServerError as error:
        section.missing.append(f"no Neo4j can be had: {error}")
        section.goals.append(at_most(_figure("Neo4j"), 0, None, _whole))
        return section
    with context.scratch() as folder:
        place = Place(server.uri, (folder / "values").as_uri(), server.credentials)
        await _measure(context, place, folder, section, "Neo4j")
    section.notes.append(f"Neo4j {server.version} on the same machine.")
    return section


async def _measure(context: Context, place: Place, folder: Path, section: Section, engine: str) -> None:
    shape = QUICK if context.quick else _SHAPE
    project = f"load-{uuid.uuid4().hex}"
    say(f"load on {engine}: making a store")
    async with await open_database(place.uri, place.values, place.credentials) as database:
        await database.migrate()
        store = database.project(project)
        try:
            questions = await _prepare(store, shape)
            async with serving(place, project) as server:
                seconds = _QUICK_SECONDS if context.quick else _SECONDS
                say(f"load on {engine}: {_CLIENTS} clients for {seconds} s")
                plan = {
                    "url": server.url,
                    "key": server.key,
                    "clients": _CLIENTS,
                    "seconds": seconds,
                    "questions": questions,
                }
                found = await _run_clients(plan)
        finally:
            for trace in (await store.traces(1000)).items:
                await store.delete_trace(trace.id)
    _report(found, section, engine, f"{shape} and the sample with its verdicts")


async def _prepare(store: GraphStore, shape: Shape) -> dict[str, Any]:
    await fill(store, shape)
    await import_path(store, _SAMPLE)
    async for _ in attribute(store, await every_failure(store, None), Options()):
        pass
    answers = [answer_of(store.project_id, shape, number) for number in range(shape.traces)]
    some = []
    for trace in (await store.traces()).items:
        some += [element.id for element in (await store.page(Label.VARIABLE, trace.id, 200)).items]
    project = {"p": [store.project_id]}
    return {
        "traces with counts": {"weight": 25, "document": _TRACES, "variables": project},
        "failures with verdicts": {"weight": 15, "document": _FAILURES, "variables": project},
        "a variable and one hop": {"weight": 30, "document": _VARIABLE, "variables": project | {"v": some}},
        "lineage of 200": {"weight": 20, "document": _LINEAGE, "variables": project | {"v": answers}},
        "search": {"weight": 10, "document": _SEARCH, "variables": project | {"w": ["ka lo", "pottery", "Mara dog"]}},
    }


async def _run_clients(plan: Mapping[str, Any]) -> dict[str, Any]:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchmarks.load_client",
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await child.communicate(json.dumps(plan).encode())
    if child.returncode:
        raise RuntimeError(f"the clients failed:\n{errors.decode(errors='replace')}")
    found: dict[str, Any] = json.loads(output)
    return found


def _report(found: dict[str, Any], section: Section, engine: str, what: str) -> None:
    taken: dict[str, list[float]] = found["taken"]
    everything = [value for values in taken.values() for value in values]
    table = Table(("question", "answers", "a second", "p50", "p95", "p99"))
    for name, values in {**taken, "all": everything}.items():
        if len(values) > 1:
            cuts = statistics.quantiles(values, n=100, method="inclusive")
            middle, most, worst = (milliseconds(cuts[number - 1]) for number in (50, 95, 99))
            table.add(name, f"{len(values):,}", per_second(len(values) / found["seconds"]), middle, most, worst)
    section.tables.append(table)
    section.numbers |= {"seconds": found["seconds"], "answers": len(everything), "failed": found["failed"]}
    section.notes.append(
        f"{_CLIENTS} clients at a time for {found['seconds']:.0f} s over real HTTP, each with one question after the "
        f"other; {what}. Server, clients and store share this machine; one server process."
    )
    if found["failed"]:
        section.notes.append(f"Errors, some of them: {'; '.join(found['errors'][:3])}")
    section.goals.append(at_most(_figure(engine), 0, found["failed"], _whole))


def _figure(engine: str) -> str:
    return f"errors under the load of {_CLIENTS} clients on {engine}"


def _whole(value: float) -> str:
    return f"{value:,.0f}"
