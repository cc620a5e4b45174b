"""How long the free pass takes for the first failure of a trace, which loads the trace, and for each later one."""

from __future__ import annotations

import gc
import statistics
import uuid
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import neo4j

from attribution.verdicts.stored import every_failure
from benchmarks import long_buffer
from benchmarks.attribution_of_trace import time_each
from benchmarks.context import Context, plain_name, run_module, say
from benchmarks.generated import PROJECT, layout_key
from benchmarks.neo4j_server import Server, ServerError
from benchmarks.report import Section, Table, at_most, megabytes, milliseconds, seconds
from ingest.files.registry import import_path
from schema.kinds import Origin
from store.contract.protocol import Database, GraphStore
from store.open import open_database

_MOST_SQLITE, _MOST_FIRST, _MOST_NEO4J = 0.05, 1.0, 0.2
_FIGURE = "attribution of a failure of a loaded trace in {}, without a model"
_FIRST_FIGURE = "slowest first failure of a trace in SQLite, its loading included"
_OF_NEO4J = "locomo-1"
"""The file of each system that is measured on Neo4j."""
_QUICK_FAILURES = 3
_RARE = 0.95

_MOST_MEDIAN, _MOST_RARE, _MOST_PEAK, _MOST_FIRST_NEO4J = 0.06, 0.3, 300e6, 2.0
_FIRST_NEO4J_FIGURE = "slowest first failure of a recorded trace on Neo4j, its reading included"

Open = Callable[[], Awaitable[Database]]


@dataclass(slots=True)
class Seconds:
    """How long the failures of a system took: the first of each trace, and the others."""

    first: list[float] = field(default_factory=list)
    later: list[float] = field(default_factory=list)


async def in_sqlite(context: Context) -> Section:
    """Measure each file in a new store."""
    section = Section("Attribution in SQLite")
    found: dict[str, Seconds] = defaultdict(Seconds)
    for file in _files(context):
        with context.scratch() as folder:
            opened = partial(open_database, f"sqlite:///{folder / 'store.db'}")
            await _measure(context, file, opened, PROJECT, found)
    _report(context, section, found, "SQLite", _MOST_SQLITE)
    firsts = [value for one in found.values() for value in one.first]
    section.goals.append(at_most(_FIRST_FIGURE, _MOST_FIRST, max(firsts, default=None), seconds))
    await _measure_recorded(context, section)
    return section


async def _measure_recorded(context: Context, section: Section) -> None:
    """Measure all failures of each recorded trace, and of a made one with a long buffer.

    Each trace is measured in a separate process, to measure its memory.
    """
    files = _recorded(context)
    if not files:
        section.missing.append(f"there are no graph files in {context.data / 'traces'} (name their folder with --data)")
    messages = long_buffer.QUICK_MESSAGES if context.quick else long_buffer.MESSAGES
    fills: dict[str, Callable[[GraphStore], Awaitable[object]]] = {
        **{plain_name(file): partial(import_path, path=file) for file in files},
        "a long buffer": partial(long_buffer.write, messages=messages),
    }
    table = Table(("trace", "failures", "median", "95 %", "slowest", "whole run", "memory at most"))
    medians, rares, peaks = [], [], []
    for name, fill in fills.items():
        say(f"attribution: all failures of {name}")
        with context.scratch() as folder:
            async with await open_database(f"sqlite:///{folder / 'store.db'}") as database:
                await fill(database.project(PROJECT))
            found = await run_module("attribution_of_trace", folder / "store.db", PROJECT)
        ranked = sorted(found["seconds"])
        medians.append(statistics.median(ranked))
        rares.append(_rare(ranked))
        peaks.append(found["peak"])
        times = map(milliseconds, (medians[-1], rares[-1], ranked[-1]))
        table.add(name, str(len(ranked)), *times, seconds(sum(ranked)), megabytes(peaks[-1]))
        section.numbers[name] = found
    section.tables.append(table)
    section.notes.append(
        "Whole traces: all their failures, also those that nobody labelled, one after the other in a process of its "
        "own; the first, which reads the trace, is among them. The long buffer is made: of its "
        f"{messages:,} messages, each makes a version of one text."
    )
    goal = section.goals.append
    goal(at_most("whole traces: highest median of a failure", _MOST_MEDIAN, max(medians, default=None), milliseconds))
    goal(at_most("whole traces: highest 95 % of a failure", _MOST_RARE, max(rares, default=None), milliseconds))
    goal(at_most("whole traces: memory of a whole run", _MOST_PEAK, max(peaks, default=None), megabytes))


async def in_neo4j(context: Context) -> Section:
    """Measure a file of each system under a project that is emptied again."""
    section = Section("Attribution in Neo4j")
    found: dict[str, Seconds] = defaultdict(Seconds)
    try:
        server = await context.server.get(layout_key("neo4j"))
    except ServerError as error:
        section.missing.append(f"no Neo4j can be had: {error}")
        section.goals.append(at_most(_FIGURE.format("Neo4j"), _MOST_NEO4J, None, milliseconds))
        return section
    for file in _files(context):
        if plain_name(file) == _OF_NEO4J:
            await _measure_there(context, server, file, found)
    _report(context, section, found, "Neo4j", _MOST_NEO4J)
    await _measure_firsts_there(context, server, section)
    section.notes.append(f"Neo4j {server.version}, driver {neo4j.__version__}; values in files.")
    return section


async def _measure_firsts_there(context: Context, server: Server, section: Section) -> None:
    """Measure the first failure of each recorded trace, which reads its structure over Bolt."""
    files = _recorded(context)
    table = Table(("recorded trace", "elements", "reading and first failure"))
    firsts = []
    for file in files:
        name = plain_name(file)
        say(f"attribution: the first failure of {name} on Neo4j")
        project = f"attribution-{uuid.uuid4().hex}"
        with context.scratch() as folder:
            opened = partial(open_database, server.uri, (folder / "values").as_uri(), server.credentials)
            try:
                async with await opened() as database:
                    await import_path(database.project(project), file)
                async with await opened() as database:
                    store = database.project(project)
                    failures = await every_failure(store, None)
                    count = sum((await store.stats()).labels.values())
                    gc.collect()
                    firsts += await time_each(store, failures[:1])
            finally:
                async with await opened() as database:
                    await _empty(database.project(project))
        table.add(name, f"{count:,}", seconds(firsts[-1]))
        section.numbers[name] = {"elements": count, "first": firsts[-1]}
    if files:
        section.tables.append(table)
    section.goals.append(at_most(_FIRST_NEO4J_FIGURE, _MOST_FIRST_NEO4J, max(firsts, default=None), seconds))


def _recorded(context: Context) -> list[Path]:
    """The files of recorded traces; only the smallest file in a quick run."""
    files = sorted((context.data / "traces").glob("*.json*"))
    return sorted(files, key=lambda file: file.stat().st_size)[:1] if context.quick else files


async def _measure_there(context: Context, server: Server, file: Path, found: dict[str, Seconds]) -> None:
    project = f"attribution-{uuid.uuid4().hex}"  # a verdict of an earlier run would be taken for one of this run
    with context.scratch() as folder:
        opened = partial(open_database, server.uri, (folder / "values").as_uri(), server.credentials)
        try:
            await _measure(context, file, opened, project, found)
        finally:
            async with await opened() as database:
                await _empty(database.project(project))


async def _measure(context: Context, file: Path, opened: Open, project: str, found: dict[str, Seconds]) -> None:
    name = f"{file.parent.name}/{plain_name(file)}"
    say(f"attribution: {name}")
    async with await opened() as database:
        await import_path(database.project(project), file)
    async with await opened() as database:  # opened anew, so that no value is unpacked yet
        store = database.project(project)
        failures = [one for one in await every_failure(store, None) if one.origin is Origin.ANNOTATION]
        if not failures:
            raise RuntimeError(f"{file}: there are no annotated failures")
        gc.collect()
        first, *later = await time_each(store, failures[:_QUICK_FAILURES] if context.quick else failures)
    found[file.parent.name].first.append(first)
    found[file.parent.name].later.extend(later)


async def _empty(store: GraphStore) -> None:
    for trace in (await store.traces()).items:
        await store.delete_trace(trace.id)


def _files(context: Context) -> list[Path]:
    """The files of failures with known causes; only the smallest file in a quick run."""
    found = sorted((context.data / "bench").glob("*/*.json*"))
    if context.quick:
        ours = [file for file in found if plain_name(file) == _OF_NEO4J]
        return sorted(ours, key=lambda file: file.stat().st_size)[:1]
    return found


def _report(context: Context, section: Section, found: dict[str, Seconds], engine: str, bound: float) -> None:
    later = [value for one in found.values() for value in one.later]
    middle = statistics.median(later) if later else None
    section.goals.append(at_most(_FIGURE.format(engine), bound, middle, milliseconds))
    if not found:
        section.missing.append(f"there are no graph files in {context.data / 'bench'} (name their folder with --data)")
        return
    table = Table(("system", "failures", "median", "95 %", "slowest", "slowest first of a trace"))
    for system, one in found.items():
        table.add(system, *_cells(one))
        section.numbers[system] = {"first": one.first, "later": one.later}
    firsts = [value for one in found.values() for value in one.first]
    table.add("all", *_cells(Seconds(firsts, later)))
    section.tables.append(table)
    section.notes.append(
        "The free pass over failures whose cause is known, one after the other; each verdict is made and stored. The "
        "first failure of a trace pays for reading its structure and its messages and is counted alone; median, 95 % "
        "and slowest are those of the others. Each file was imported before, and its store opened anew."
    )


def _cells(one: Seconds) -> tuple[str, ...]:
    ranked = sorted(one.later)
    times = (statistics.median(ranked), _rare(ranked), ranked[-1])
    return (str(len(one.first) + len(ranked)), *map(milliseconds, times), seconds(max(one.first)))


def _rare(ranked: Sequence[float]) -> float:
    return ranked[min(len(ranked) - 1, int(len(ranked) * _RARE))]
