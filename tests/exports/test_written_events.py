"""A trace is exported as a file of events, and the file is imported into the same store or another one."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import memtrace
import pytest
from memtrace.exporters.file import FileExporter

from ingest.exports.registry import own_export
from ingest.exports.turns import in_turn
from ingest.files.registry import import_path
from schema.ids import trace_id
from schema.models import Failure, Trace, Variable
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from store.shared.paging import elements, every
from tests.queue.sets import closed_set

pytestmark = pytest.mark.one_engine


@pytest.fixture
def store(database: Database) -> GraphStore:
    return database.project(f"written-{uuid4().hex}")


@pytest.fixture
def other(database: Database) -> GraphStore:
    return database.project(f"other-{uuid4().hex}")


async def _written(store: GraphStore, trace: str) -> bytes:
    (found,) = await store.get(Label.TRACE, [trace_id(store.project_id, trace)])
    assert isinstance(found, Trace)
    out = io.BytesIO()
    export = own_export(found)
    assert export is not None
    await export.write(store, found, out)
    return out.getvalue()


async def _import(store: GraphStore, folder: Path, data: bytes) -> dict[str, int]:
    path = folder / "written.ndjson"
    path.write_bytes(data)
    report = await import_path(store, path)
    assert report.rejected == ()
    return report.created


def _neutral(data: bytes) -> bytes:
    """The lines with numbers in place of the ids of occurrences, and with sorted attributes."""
    ids: dict[str, str] = {}
    text = re.sub("graph:[0-9a-f]{32}", lambda match: ids.setdefault(match[0], f"graph:{len(ids)}"), data.decode())
    return "\n".join(json.dumps(json.loads(line), sort_keys=True) for line in text.splitlines()).encode()


async def test_a_written_trace_is_the_same_elsewhere(store: GraphStore, other: GraphStore, tmp_path: Path) -> None:
    await _import(store, tmp_path, b"\n".join(closed_set("t", 30, Random(4))))
    data = await _written(store, "t")
    assert _neutral(data) != data
    await _import(other, tmp_path, data)
    assert _neutral(await _written(other, "t")) == _neutral(data)


def _record(folder: Path) -> bytes:
    """A program with a memory whose units are read, revised and deleted."""
    memtrace.configure(exporter=FileExporter(folder / "recorded.ndjson"))

    @memtrace.operation(kind="Update")
    def note(text: str) -> Any:
        return memtrace.variable(text, kind="MemoryUnit", name="home")

    @memtrace.operation(kind="Update")
    def change(unit: Any, text: str) -> Any:
        return memtrace.variable(text, kind="MemoryUnit", revises=unit)

    @memtrace.operation(kind="Retrieval")
    def search(question: str, units: list[Any]) -> list[Any]:
        return units[:1]

    @memtrace.operation(kind="Deletion", output=False)
    def delete(unit: Any) -> None:
        memtrace.deleted(unit)

    @memtrace.operation(kind="Generation", output="Answer", output_name="answer")
    def answer(question: str, found: list[Any]) -> str:
        return f"So I heard: {found[0]}"

    with memtrace.trace("Ann", id="ann"), memtrace.session("talk"):
        home = change(note(memtrace.variable("I live in Leeds.", kind="Message")), "I live in Hull. " * 300)
        asked = memtrace.variable("Where does Ann live?", kind="Query", name="q")
        answer(asked, search(asked, [home, note("I like tea.")]))
        delete(home)
    memtrace.flush()
    return (folder / "recorded.ndjson").read_bytes()


@pytest.fixture
async def recorded(store: GraphStore, tmp_path: Path) -> GraphStore:
    """A store with a recorded trace, of which a user said that its answer is wrong."""
    await _import(store, tmp_path, _record(tmp_path))
    answer = next(one for one in await elements(store, Variable, trace_id(store.project_id, "ann"), ["Answer"]))
    event = {"v": 1, "type": "feedback", "trace": "ann", "time": "2030-01-31T12:00:00.000000Z"}
    more = {"answer": answer.external_id, "gold": ["Hull"], "comment": "It moved."}
    await _import(store, tmp_path, json.dumps(event | more).encode())
    return store


async def test_importing_a_written_trace_again_changes_nothing(recorded: GraphStore, tmp_path: Path) -> None:
    before = await recorded.stats(trace_id(recorded.project_id, "ann"))
    data = await _written(recorded, "ann")
    assert b'"reads"' in data  # occurrences are the difficult part: the names of their sender are not stored
    assert await _import(recorded, tmp_path, data) == {}
    assert await recorded.stats(trace_id(recorded.project_id, "ann")) == before
    assert await _written(recorded, "ann") == data


async def test_failures_and_memory_go_along(recorded: GraphStore, other: GraphStore, tmp_path: Path) -> None:
    data = await _written(recorded, "ann")
    await _import(other, tmp_path, data)
    assert await _import(other, tmp_path, data) == {}
    (failure,) = [one async for one in every(lambda after: other.failures(after=after))]
    assert isinstance(failure, Failure)
    assert (failure.gold_answers, failure.question) == (("Hull",), "Where does Ann live?")
    for one in (recorded, other):
        ended = await one.invalidations(trace_id(one.project_id, "ann"))
        assert len(ended) == 1
    old, new = [await elements(one, Variable, trace_id(one.project_id, "ann")) for one in (recorded, other)]
    assert [_plain(one) for one in new] == [_plain(one) for one in old]
    assert len(await other.edges(trace_id(other.project_id, "ann"))) == len(
        await recorded.edges(trace_id(recorded.project_id, "ann"))
    )


def _plain(one: Variable) -> Variable:
    return replace(one, id="", project_id="", trace_id="", session_id=None, operation_id=None, revision_of=None)


async def test_a_name_means_only_what_its_own_trace_has(recorded: GraphStore, tmp_path: Path) -> None:
    id_ = trace_id(recorded.project_id, "ann")
    unit = (await elements(recorded, Variable, id_, ["MemoryUnit"]))[0]
    event = {
        "v": 1,
        "type": "variable",
        "trace": "bob",
        "time": "2030-01-31T12:00:00.000000Z",
        "name": "x",
        "version": 0,
    }
    more = {"variable": f"graph:{unit.id}", "kind": "Message", "value": "x", "mediaType": "text/plain"}
    created = await _import(recorded, tmp_path, json.dumps(event | more).encode())
    assert created == {"Trace": 1, "Variable": 1}
    assert (await recorded.get(Label.VARIABLE, [unit.id]))[0] == unit


async def test_long_values_are_written_before_the_next_are_read(
    store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _import(store, tmp_path, b"\n".join(closed_set("t", 30, Random(4))))
    data = await _written(store, "t")
    most: list[int] = []

    async def counted(work: Callable[..., Any], *arguments: Any) -> Any:
        if len(arguments) == 1 and isinstance(arguments[0], list):
            most.append(sum(one["type"] == "variable" for one in arguments[0]))
        return await in_turn(work, *arguments)

    monkeypatch.setattr("ingest.exports.events.in_turn", counted)
    assert await _written(store, "t") == data
    at_once = max(most)
    most.clear()
    monkeypatch.setattr("ingest.exports.events._MOST_BYTES", 1)
    assert await _written(store, "t") == data
    assert max(most[1:]) == 1 < at_once
