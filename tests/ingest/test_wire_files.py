"""Files of wire events, as the recorder's file exporter writes them."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import memtrace
import pytest
from memtrace.exporters.file import FileExporter
from memtrace.exporters.memory import MemoryExporter

from ingest.events.reading import read
from ingest.events.taking import take_events
from ingest.files.opening import UnpacksTooMuchError
from ingest.files.protocol import Rejected
from ingest.files.registry import import_path
from ingest.files.wire import read as wire_read
from schema.errors import InputError
from schema.ids import trace_id
from schema.models import Derivation, Variable
from store.contract.protocol import Database, GraphStore
from store.shared.paging import elements
from tests.queue.sets import closed_set, event_line, graph_of

pytestmark = pytest.mark.one_engine


@pytest.fixture
def store(database: Database) -> GraphStore:
    return database.project(f"wire-{uuid4().hex}")


def _file(tmp_path: Path, lines: list[bytes]) -> Path:
    path = tmp_path / "events.ndjson"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


async def _as_events(store: GraphStore, trace: str, lines: list[bytes]) -> dict[str, Any]:
    """The graph that results from these lines as events, in the same project; the trace is deleted again."""
    assert await take_events(store, read(lines)) == []  # type: ignore[arg-type]
    graph = await graph_of(store, trace)
    await store.delete_trace(trace_id(store.project_id, trace))
    return graph


async def test_a_file_makes_the_graph_that_its_events_make(store: GraphStore, tmp_path: Path) -> None:
    lines = closed_set("t", 20, Random(1))
    expected = await _as_events(store, "t", lines)
    report = await import_path(store, _file(tmp_path, lines))
    assert await graph_of(store, "t") == expected
    assert report.trace_ids == (report.trace_id,) == (trace_id(store.project_id, "t"),)
    counts = {"Trace": 1, "Session": 1, "Operation": 20, "Variable": 21, "Derivation": report.derivations}
    assert report.created == counts
    assert report.existing == {}
    assert report.derivations == len(expected["derivations"])
    assert (report.sessions, report.operations, report.variables) == (1, 20, 21)
    assert (report.occurrences, report.reads, report.failures, report.rejected) == (0, 0, 0, ())


async def test_again_and_longer(store: GraphStore, tmp_path: Path) -> None:
    lines = closed_set("t", 20, Random(2))
    first = await import_path(store, _file(tmp_path, lines[:60]))
    again = await import_path(store, _file(tmp_path, lines[:60]))
    assert (again.created, again.existing) == ({}, first.created)
    longer = await import_path(store, _file(tmp_path, lines))
    assert longer.existing == first.created
    assert longer.created["Operation"] + first.created["Operation"] == 20
    whole = await graph_of(store, "t")
    await store.delete_trace(longer.trace_id)
    assert whole == await _as_events(store, "t", lines)


async def test_what_the_recorder_wrote(store: GraphStore, tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    memtrace.configure(exporter=FileExporter(path))

    @memtrace.operation(kind="Extraction")
    def extract(message: str) -> str:
        return memtrace.variable("dog: Bo", kind="MemoryUnit", name="unit")

    try:
        with memtrace.trace("an agent", id="recorded"):
            extract(memtrace.variable("I have a dog, Bo.", kind="Message", name="message"))
        assert memtrace.flush(10).sent > 0
    finally:
        memtrace.configure(exporter=MemoryExporter())
    report = await import_path(store, path)
    variables = await elements(store, Variable, report.trace_id)
    assert [one.name for one in variables] == ["message", "unit"]
    (derivation,) = await elements(store, Derivation, report.trace_id)
    assert [derivation.source, derivation.target] == [one.id for one in variables]


async def test_feedback_makes_failures_that_are_counted(store: GraphStore, tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    memtrace.configure(exporter=FileExporter(path))

    @memtrace.operation(kind="Generation", output="Answer")
    def answer(question: str, number: str) -> str:
        return f"{number} dogs"

    with memtrace.trace("agent", id="t"):
        query = memtrace.variable("What is Bo?", "Query")
        first, second, third = (answer(query, number) for number in ("one", "two", "six"))
        memtrace.feedback(first, "a poodle")
        memtrace.feedback(first, "a poodle", question=query)
        memtrace.feedback(second, "a poodle", question=query)
        memtrace.feedback(third, right=True)
    memtrace.configure(exporter=MemoryExporter())
    report = await import_path(store, path)
    assert (report.failures, report.created["Failure"], report.rejected) == (2, 2, ())
    again = await import_path(store, path)
    assert (again.failures, again.created, again.existing) == (2, {}, report.created)


async def test_packed_with_empty_lines_and_without_the_last_line_end(store: GraphStore, tmp_path: Path) -> None:
    lines = closed_set("t", 3, Random(3))
    path = tmp_path / "events"
    path.write_bytes(gzip.compress(b"\r\n\n  \n".join(lines)))
    report = await import_path(store, path)
    assert (report.variables, report.rejected) == (4, ())


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (b'{"v":1,"type":"trace","tra', "JSON"),
        (b'{"v":2,"type":"trace","trace":"t","time":"2026-01-01T00:00:00.000000Z"}', "v"),
        (b'{"graph_id":"g","data":{}}', "no version is not supported"),
        (b"[]", "object"),
        (b"\xff", "utf-8"),
    ],
)
async def test_a_line_that_is_no_event(store: GraphStore, tmp_path: Path, bad: bytes, problem: str) -> None:
    lines = closed_set("t", 3, Random(4))
    path = _file(tmp_path, [*lines[:5], b"", bad, *lines[5:]])
    with pytest.raises(InputError, match=problem) as caught:
        await import_path(store, path)
    assert (caught.value.source, caught.value.place) == (str(path), "line 7")
    assert (await store.traces()).items == []


async def test_several_traces_and_what_the_graph_cannot_take(store: GraphStore, tmp_path: Path) -> None:
    one, two = closed_set("one", 5, Random(5)), closed_set("two", 5, Random(6))
    mixed = [line for pair in zip(one, two, strict=False) for line in pair]
    mixed += one[len(mixed) // 2 :] + two[len(mixed) // 2 :]
    lines = [
        event_line("used", "two", operation="nobody's", variable="v0", position=0),
        *mixed,
        event_line("derived", "one", derivation="back", source="v5", target="v5", operation="o1", kind="Derivation"),
        event_line("used", "three", operation="nobody's", variable="nothing", position=0),
        event_line("used", "two", operation="nobody's", variable="v0", position=0),
    ]
    expected = [await _as_events(store, "one", one), await _as_events(store, "two", two)]
    report = await import_path(store, _file(tmp_path, lines))
    assert [await graph_of(store, "one"), await graph_of(store, "two")] == expected
    assert report.trace_ids == tuple(trace_id(store.project_id, trace) for trace in ("two", "one", "three"))
    assert report.created["Trace"] == 2
    assert report.variables == report.created["Variable"] == 12
    assert report.rejected == (
        Rejected(1, 'operation: there is no operation "nobody\'s" in this trace'),
        Rejected(len(mixed) + 2, "source: it came after the target, and depends on it: this would close a cycle"),
        Rejected(len(mixed) + 3, "variable: there is no variable 'nothing' in this trace"),
        Rejected(len(mixed) + 4, 'operation: there is no operation "nobody\'s" in this trace'),
    )
    again = await import_path(store, _file(tmp_path, lines))
    assert (again.created, again.rejected) == ({}, report.rejected)


@pytest.mark.parametrize("seed", range(3))
async def test_lines_in_any_order(
    store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr("ingest.files.wire.read.MOST_EVENTS", 40)
    lines = closed_set("t", 30, Random(seed))
    expected = await _as_events(store, "t", lines)
    shuffled = list(lines)
    Random(seed).shuffle(shuffled)
    report = await import_path(store, _file(tmp_path, shuffled))
    assert report.rejected == ()
    assert await graph_of(store, "t") == expected


async def test_what_is_too_much_out_of_order_is_told(
    store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.files.wire.read.MOST_EVENTS", 1)
    monkeypatch.setattr(wire_read, "MOST_PASSES", 2)
    value = {"kind": "Message", "version": 0, "value": "x", "mediaType": "text/plain", "name": "x"}
    chain = [
        event_line(
            "variable", "t", place, variable=f"v{place}", **value, **({"revisionOf": f"v{place - 1}"} if place else {})
        )
        for place in range(4)
    ]
    path = _file(tmp_path, chain[::-1])
    report = await import_path(store, path)
    assert [one.line for one in report.rejected] == [1, 2]
    assert all("too much there is in no order" in one.reason for one in report.rejected)
    assert [one.line for one in (await import_path(store, path)).rejected] == []


async def test_values_may_be_rebuilt_only_to_so_much(store: GraphStore, tmp_path: Path) -> None:
    value = {"kind": "Buffer", "version": 0, "mediaType": "text/plain", "name": "x"}
    first = "x" * 200_000
    base = {"variable": "v0", "kept": len(first), "size": len(first) + 1}
    lines = [event_line("variable", "t", variable="v0", value=first, **value)]
    lines += [event_line("variable", "t", n, variable=f"v{n}", value="y", base=base, **value) for n in range(1, 11)]
    path = _file(tmp_path, lines)
    with pytest.raises(UnpacksTooMuchError, match="say only what is new"):
        await import_path(store, path, max_bytes=2_000_000)
    assert (await store.traces()).items == []
    assert (await import_path(store, path, max_bytes=2_000_010)).variables == 11


async def test_the_progress_of_an_import(store: GraphStore, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    path = _file(tmp_path, closed_set("t", 3, Random(7)) + closed_set("u", 3, Random(8)))
    await import_path(store, path, progress=lambda *said: told.append(said))
    lines = len(path.read_bytes().splitlines())
    size = path.stat().st_size
    assert told[0] == ("read", size, size)
    assert [done for stage, done, whole in told if (stage, whole) == ("write", lines)][::2] == [0, lines]


async def test_who_stops_an_import_in_time_leaves_nothing(store: GraphStore, tmp_path: Path) -> None:
    class StoppedError(Exception):
        pass

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "write":
            raise StoppedError

    with pytest.raises(StoppedError):
        await import_path(store, _file(tmp_path, closed_set("t", 3, Random(9))), progress=stop)
    assert (await store.traces()).items == []
