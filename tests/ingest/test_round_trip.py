"""Unusual but valid files: import and export give the same content."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from benchmarks.exactness import RecordedFile
from ingest.files.registry import find_files, import_path
from ingest.files.smartcomment.write import export_trace
from schema.models import Session, Trace, Variable
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from store.shared.paging import elements
from tests.data import SAMPLE, needs_data, trace_files

Graph = dict[str, Any]


def sample() -> Graph:
    graph: Graph = msgspec.json.decode(SAMPLE.read_bytes())
    return graph


async def round_trip(database: Database, tmp_path: Path, graph: Graph, timezone: str = "UTC") -> bytes:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(graph, ensure_ascii=False))
    store = database.project(f"trip-{os.getpid()}")
    report = await import_path(store, path, timezone)
    out = io.BytesIO()
    await export_trace(store, report.trace_id, out)
    again = await import_path(store, path, timezone)
    assert again.created == {}
    await store.delete_trace(report.trace_id)
    return out.getvalue()


async def test_the_sample_comes_back_byte_for_byte(database: Database) -> None:
    store = database.project(f"bytes-{os.getpid()}")
    report = await import_path(store, SAMPLE)
    out = io.BytesIO()
    await export_trace(store, report.trace_id, out)
    await store.delete_trace(report.trace_id)
    assert out.getvalue() == SAMPLE.read_bytes()


async def test_unknown_and_absent_keys(database: Database, tmp_path: Path) -> None:
    graph = sample()
    data = graph["data"]
    graph["schema"] = {"version": [1, 2.5, None]}
    data["controls"] = [{"query_id": "x"}]
    data["annotations"] = []
    data["nodes"][0] |= {"tokens": 12, "smartcomment": True}
    data["nodes"][1]["metadata"] = {"smartcomment": {"set": {"name": "no"}}}
    data["nodes"][2]["metadata"] = None
    for key in ("trigger_point", "full_name", "node_id", "full_node_id", "metadata", "comment", "version"):
        del data["nodes"][3][key]
    data["nodes"][4]["full_name"] = "wrong"
    data["nodes"][5]["created_at"] = "2026-11-21T20:28:59.390123"
    data["nodes"][6]["user_id"] = "somebody else"
    data["nodes"][7]["lineno"] = -1
    del data["nodes"][8]["filename"]
    data["nodes"][9]["trigger_point"] = 'C:\\agent "x".py:9'
    for item in (data["edges"][0], data["operations"][0], data["sessions"][0]):
        item["extra"] = [True, {"a": "b"}]
        del item["trigger_point"]
    data["edges"][1]["session_id"] = data["sessions"][-1]["session_id"]
    data["edges"][2]["graph_id"] = "another"
    data["operations"][1]["session_id"] = None
    del data["operations"][2]["op_name"]
    data["sessions"][1]["session_name"] = "named"
    data["nodes"][2]["metadata"] = {"big": 12345678901234567890, "deep": {"x": [[]]}, "": "empty"}
    assert msgspec.json.decode(await round_trip(database, tmp_path, graph)) == graph


async def test_only_what_is_needed(database: Database, tmp_path: Path) -> None:
    graph = {
        "graph_id": "bare",
        "data": {
            "nodes": [{"name": "a", "value": "1"}, {"name": "b", "value": "2", "version": 3}],
            "edges": [{"edge_id": "e", "op_id": "o", "source_full_node_id": "a@1", "target_full_node_id": "b@3"}],
            "operations": [{"op_id": "o"}],
        },
    }
    assert msgspec.json.decode(await round_trip(database, tmp_path, graph)) == graph
    empty = {"graph_id": "empty", "data": {}}
    assert msgspec.json.decode(await round_trip(database, tmp_path, empty)) == empty


async def test_names_and_values_of_every_kind(database: Database, tmp_path: Path) -> None:
    graph = sample()
    odd = ['a:b@c"d', "line\nbreak\ttab", "\\", "'; DROP TABLE variable; --", "${x} `x` :Label", " sp ", "\u0000"]
    odd.append("שלום 你好 🎉")
    for position, name in enumerate(odd):
        node = graph["data"]["nodes"][0] | {"name": name, "class_name": None, "value": name * 900}
        node |= {"full_name": name, "node_id": f"{name}@1", "full_node_id": f"{name}@1"}
        graph["data"]["nodes"].append(node)
        target = graph["data"]["nodes"][40 + position]["full_node_id"]
        edge = graph["data"]["edges"][0] | {"edge_id": f"odd-{position}", "source_full_node_id": f"{name}@1"}
        graph["data"]["edges"].append(edge | {"target_full_node_id": target, "comment": name})
    assert msgspec.json.decode(await round_trip(database, tmp_path, graph)) == graph


async def test_lists_in_another_order(database: Database, tmp_path: Path) -> None:
    """A variable that is listed before its own sources comes after them in the trace, and first again on export."""
    graph = sample()
    graph["data"]["nodes"].reverse()
    assert msgspec.json.decode(await round_trip(database, tmp_path, graph)) == graph


async def test_local_times(database: Database, tmp_path: Path) -> None:
    graph = sample()
    graph["data"]["nodes"][0]["created_at"] = "2026-03-29 02:30:00.000"  # does not exist in Berlin
    graph["data"]["nodes"][1]["created_at"] = "2026-10-25 02:30:00.000"  # is there twice
    graph["created_at"] = "2026-07-01 12:00:00.500"
    out = await round_trip(database, tmp_path, graph, "Europe/Berlin")
    assert msgspec.json.decode(out) == graph
    path = tmp_path / "graph.json"
    store = database.project(f"local-{os.getpid()}")
    report = await import_path(store, path, "Europe/Berlin")
    (trace,) = await store.get(Label.TRACE, [report.trace_id])
    assert isinstance(trace, Trace)
    assert trace.created_at is not None
    assert trace.created_at.isoformat() == "2026-07-01T10:00:00.500000+00:00"
    assert msgspec.json.decode(trace.attributes)["smartcomment"]["timezone"] == "Europe/Berlin"
    await store.delete_trace(report.trace_id)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.compress], ids=["gz", "xz", "zst"])
async def test_compressed_files(database: Database, tmp_path: Path, pack: Any) -> None:
    """The first bytes, not the name, tell the compression."""
    path = tmp_path / "graph.bin"
    half = len(SAMPLE.read_bytes()) // 2
    path.write_bytes(pack(SAMPLE.read_bytes()[:half]) + pack(SAMPLE.read_bytes()[half:]))
    store = database.project(f"packed-{os.getpid()}")
    report = await import_path(store, path)
    assert (report.variables, report.derivations) == (235, 431)
    await store.delete_trace(report.trace_id)


def test_a_folder_is_its_graph_files(tmp_path: Path) -> None:
    for name in ("b.json", "a/c.json.zst", "a/d.json.gz", "notes.txt", "e.json.xz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [path.relative_to(tmp_path).as_posix() for path in find_files([tmp_path])]
    assert found == ["a/c.json.zst", "a/d.json.gz", "b.json", "e.json.xz"]


async def sessions_of(store: GraphStore, trace_id: str) -> list[Session]:
    return await elements(store, Session, trace_id)


async def test_a_longer_stage_adds_only_what_is_new(database: Database, tmp_path: Path) -> None:
    """Import the sample in three stages: the result equals an import of the whole."""
    graph = sample()
    categories = ("memory_construction", "memory_search", "memory_evaluation")
    store, whole = database.project(f"stage-{os.getpid()}"), database.project(f"at-once-{os.getpid()}")
    created = []
    for count in (1, 2, 3):
        kept = {s["session_id"] for s in graph["data"]["sessions"] if s["category"] in categories[:count]}
        stage = graph | {
            "data": {
                name: [item for item in graph["data"][name] if item["session_id"] in kept]
                for name in ("nodes", "edges", "operations", "sessions")
            }
        }
        path = tmp_path / f"stage{count}.json"
        path.write_text(json.dumps(stage))
        report = await import_path(store, path)
        created.append(report.created["Variable"])
    at_once = await import_path(whole, SAMPLE)
    assert sum(created) == at_once.created["Variable"]
    grown = await elements(store, Variable, report.trace_id)
    direct = await elements(whole, Variable, at_once.trace_id)
    assert [(v.external_id, v.occurrence, v.sequence, v.kind) for v in grown] == [
        (v.external_id, v.occurrence, v.sequence, v.kind) for v in direct
    ]
    await store.delete_trace(report.trace_id)
    await whole.delete_trace(at_once.trace_id)


@needs_data
async def test_bench_files_come_back(database: Database, tmp_path: Path) -> None:
    """A file with ``annotations`` and ``controls``, which smartcomment itself drops."""
    path = next(p for p in trace_files("bench") if p.parent.name == "long_context")
    graph = RecordedFile(path).raw
    assert msgspec.json.decode(await round_trip(database, tmp_path, graph)) == graph
