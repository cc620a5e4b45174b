"""Importers that are killed at any moment: of a trace there is nothing or everything, and importing again completes it.

Importers are processes of their own, killed as by ``kill -9``.
"""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from ingest.files.registry import import_path
from ingest.files.smartcomment.write import export_trace
from schema.ids import trace_id
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from store.open import Credentials, open_database
from store.shared.paging import in_trace
from tests.data import ROOT
from tests.graph_files import GraphFile, conversation
from tests.neo4j_server import Neo4jServer

PROJECT = "crash"
PAGED = (Label.SESSION, Label.OPERATION, Label.VARIABLE, Label.DERIVATION)


@dataclass(frozen=True)
class Importer:
    """Imports a file, in a process of its own.

    Attributes:
        place: options of the command line that say where to.
        secrets: further variables of its environment.
    """

    file: Path
    place: tuple[str, ...]
    secrets: dict[str, str] = field(default_factory=dict, repr=False)

    def start(self) -> subprocess.Popen[str]:
        """The process, which runs from now on."""
        command = [sys.executable, "-m", "api.cli.main", *self.place, "import", str(self.file), "--json"]
        environment = {**os.environ, **self.secrets}
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, text=True)

    def run(self) -> float:
        """Run the import to its end; return its seconds."""
        started = time.monotonic()
        process = self.start()
        _, errors = process.communicate()
        assert process.returncode == 0, errors
        return time.monotonic() - started

    def run_and_kill(self, seconds: float, watched: Callable[[], bool] | None = None) -> None:
        """Kill the import some seconds after its start, or after ``watched()``; the import may have ended earlier."""
        process = self.start()
        while watched is not None and process.poll() is None and not watched():
            time.sleep(0.0005)
        time.sleep(seconds)
        process.kill()
        process.communicate()


async def snapshot(store: GraphStore, trace: str) -> dict[str, Any]:
    """All elements of a trace, its export, and some operations with their inputs and outputs."""
    found: dict[str, Any] = {"trace": await store.get(Label.TRACE, [trace])}
    for label in PAGED:
        found[label] = await everything(store, label, trace)
    found["failures"] = (await store.failures(trace, 10_000)).items
    found["verdicts"] = await store.attributions([failure.id for failure in found["failures"]])
    operations = [operation.id for operation in found[Label.OPERATION][::25]]
    found["details"] = []
    for start in range(0, len(operations), 50):
        found["details"] += await asyncio.gather(*map(store.operation, operations[start : start + 50]))
    stats = await store.stats(trace)
    found["counts"] = (stats.labels, stats.kinds)
    found["values"] = await store.known_values(trace)
    exported = io.BytesIO()
    await export_trace(store, trace, exported)
    found["export"] = exported.getvalue()
    return found


async def everything(store: GraphStore, label: Label, trace: str) -> list[Any]:
    """All elements of a trace."""
    return [element async for element in in_trace(store, label, trace)]


@dataclass(frozen=True)
class Reference:
    """The result of an uninterrupted import, and its seconds."""

    trace: str
    seconds: float
    snapshot: dict[str, Any]


async def import_once(importer: Importer, store: GraphStore, recorded: GraphFile) -> Reference:
    """Import a file without a kill, look at all of it, and delete it again."""
    trace = trace_id(store.project_id, recorded.graph_id)
    seconds = await asyncio.to_thread(importer.run)
    found = await snapshot(store, trace)
    assert found["export"] == recorded.as_bytes()
    await store.delete_trace(trace)
    return Reference(trace, seconds, found)


async def is_whole(store: GraphStore, reference: Reference) -> bool:
    """Whether the trace is listed; then it must be whole, to the last value."""
    if all(one.id != reference.trace for one in (await store.traces(1_000)).items):
        return False
    stats = await store.stats(reference.trace)
    assert (stats.labels, stats.kinds) == reference.snapshot["counts"]
    for label in PAGED:
        assert await everything(store, label, reference.trace) == reference.snapshot[label]
    large = [variable for variable in reference.snapshot[Label.VARIABLE] if variable.value is None]
    assert len(large) > 20
    for variable in large[::10]:
        await store.value(variable)
    return True


async def left_over(store: GraphStore, reference: Reference, every: int = 1) -> int:
    """How many elements of the trace are there by their ids, listed or not; looks at ``every`` so many."""
    ids = {label: [element.id for element in reference.snapshot[label][::every]] for label in PAGED}
    return sum([len(await store.get(label, ids[label])) for label in PAGED])


async def assert_import_completes(importer: Importer, store: GraphStore, reference: Reference) -> None:
    """Importing again, without a kill, makes what one uninterrupted import makes; and once more changes nothing."""
    await import_path(store, importer.file)
    assert await snapshot(store, reference.trace) == reference.snapshot
    assert (await import_path(store, importer.file)).created == {}
    assert await is_whole(store, reference)


async def open_sqlite(path: Path, values: str | None = None) -> Database:
    """Open a file that must be sound."""
    database = await open_database(f"sqlite:///{path}", values)
    assert (await database.health()).problems == []
    return database


def into_sqlite(path: Path, file: Path, values: str | None = None) -> Importer:
    outside = ("--values", values) if values else ()
    return Importer(file, ("--store", f"sqlite:///{path}", "--project", PROJECT, *outside))


def has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


@pytest.mark.parametrize(("most", "wanted"), [(3, 1), pytest.param(10, 3, marks=pytest.mark.full)])
async def test_kills_of_an_import_into_sqlite(tmp_path: Path, most: int, wanted: int) -> None:
    recorded = conversation(messages=400, questions=30)
    path, log = tmp_path / "test.db", tmp_path / "test.db-wal"
    importer = into_sqlite(path, recorded.write(tmp_path / "graph.json"))
    other = conversation(messages=20, questions=3, graph_id="graph-bystander").write(tmp_path / "other.json")
    async with await open_sqlite(path) as database:
        store = database.project(PROJECT)
        bystander = (await import_path(store, other)).trace_id
        before = await snapshot(store, bystander)
        reference = await import_once(importer, store, recorded)
    random = Random(1)
    kills = while_it_wrote = 0
    while kills < most or while_it_wrote < wanted:
        assert kills < 60, "hardly any kill fell into the moment of writing"
        # The log grows from when the transaction is committed: the moment that matters most, and a short one.
        watched, seconds = (None, reference.seconds) if kills % 2 else (lambda: has_content(log), 0.01)
        await asyncio.to_thread(importer.run_and_kill, random.uniform(0, seconds), watched)
        was_writing = has_content(log)
        kills += 1
        async with await open_sqlite(path) as database:
            store = database.project(PROJECT)
            if await is_whole(store, reference):
                await store.delete_trace(reference.trace)
            else:
                while_it_wrote += was_writing
                assert await left_over(store, reference) == 0
                assert await store.known_values(reference.trace) == set()
    async with await open_sqlite(path) as database:
        store = database.project(PROJECT)
        await assert_import_completes(importer, store, reference)
        assert await snapshot(store, bystander) == before


@pytest.mark.full
async def test_kills_while_a_sqlite_file_is_made(tmp_path: Path) -> None:
    recorded = conversation(messages=40, questions=4)
    file = recorded.write(tmp_path / "graph.json")
    async with await open_sqlite(tmp_path / "whole.db") as database:
        reference = await import_once(into_sqlite(tmp_path / "whole.db", file), database.project(PROJECT), recorded)
    random = Random(2)
    for number in range(4):
        path = tmp_path / f"{number}.db"
        importer = into_sqlite(path, file)
        await asyncio.to_thread(importer.run_and_kill, random.uniform(0, 0.05), path.exists)
        async with await open_sqlite(path) as database:
            store = database.project(PROJECT)
            if not await is_whole(store, reference):
                assert await left_over(store, reference) == 0
            await assert_import_completes(importer, store, reference)


@pytest.mark.full
async def test_kills_of_an_import_into_sqlite_with_values_outside(tmp_path: Path) -> None:
    recorded = conversation(messages=300, questions=20, buffer_characters=30_000)
    path, log, folder = tmp_path / "test.db", tmp_path / "test.db-wal", tmp_path / "values"
    importer = into_sqlite(path, recorded.write(tmp_path / "graph.json"), folder.as_uri())

    def files() -> list[Path]:
        return [found for found in folder.rglob("*") if found.is_file()]

    async with await open_sqlite(path, folder.as_uri()) as database:
        reference = await import_once(importer, database.project(PROJECT), recorded)
    assert files() == []
    random = Random(3)
    for number in range(5):
        known = len(files())
        watched, seconds = [
            (None, reference.seconds),
            (lambda known=known: len(files()) > known, reference.seconds / 10),
            (lambda: has_content(log), 0.02),
        ][number % 3]
        await asyncio.to_thread(importer.run_and_kill, random.uniform(0, seconds), watched)
        async with await open_sqlite(path, folder.as_uri()) as database:
            store = database.project(PROJECT)
            if await is_whole(store, reference):
                await store.delete_trace(reference.trace)
                assert files() == []
            else:
                assert await left_over(store, reference) == 0
                assert await store.known_values(reference.trace) <= reference.snapshot["values"]
    async with await open_sqlite(path, folder.as_uri()) as database:
        store = database.project(PROJECT)
        await assert_import_completes(importer, store, reference)
        await store.delete_trace(reference.trace)
        assert files() == []


@pytest.mark.full
async def test_kills_of_an_import_into_neo4j(neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    project = f"crash-{uuid4().hex}"
    recorded = conversation(messages=1_500, questions=10, buffer_characters=2_500)
    values = (tmp_path / "values").as_uri()
    importer = Importer(
        recorded.write(tmp_path / "graph.json"),
        ("--store", neo4j_server.uri, "--values", values, "--project", project),
        {"MEMTRACE_NEO4J_USER": neo4j_server.user, "MEMTRACE_NEO4J_PASSWORD": neo4j_server.password},
    )
    random = Random(4)
    loop = asyncio.get_running_loop()
    credentials = Credentials(neo4j_server.user, neo4j_server.password)
    async with await open_database(neo4j_server.uri, values, credentials) as database:
        store = database.project(project)
        reference = await import_once(importer, store, recorded)
        first = [reference.snapshot[Label.SESSION][0].id]

        def has_begun() -> bool:
            return bool(asyncio.run_coroutine_threadsafe(store.get(Label.SESSION, first), loop).result())

        kills = while_it_wrote = 0
        window = reference.seconds / 5
        while kills < 3 or while_it_wrote < 2:
            assert kills < 20, "hardly any kill fell into the moment of writing"
            is_clean = await left_over(store, reference, 10) == 0
            watched, seconds = (has_begun, window) if is_clean else (None, reference.seconds)
            await asyncio.to_thread(importer.run_and_kill, random.uniform(0, seconds), watched)
            kills += 1
            whole, left = await is_whole(store, reference), await left_over(store, reference, 10)
            while_it_wrote += left > 0 and not whole
            if whole:  # the first import is a slow one, where the server is new
                window /= 2
            # What is half written is not listed; it can be deleted, or completed by the next one.
            if whole or (left and kills % 2 == 0):
                await store.delete_trace(reference.trace)
                assert await left_over(store, reference, 10) == 0
        await assert_import_completes(importer, store, reference)
        await store.delete_trace(reference.trace)
