"""Bad files: a clear message with file and place, and an unchanged store."""

from __future__ import annotations

import copy
import gzip
import json
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio
import zstandard

from ingest.files.registry import find_files, import_path
from schema.errors import InputError
from store.contract.answers import Label
from store.contract.protocol import Database, GraphStore
from store.shared.paging import in_trace
from tests.data import SAMPLE

pytestmark = pytest.mark.one_engine

Graph = dict[str, Any]
_ALL = (Label.TRACE, Label.SESSION, Label.OPERATION, Label.VARIABLE, Label.DERIVATION, Label.FAILURE)


def sample() -> Graph:
    graph: Graph = msgspec.json.decode(SAMPLE.read_bytes())
    return graph


def _remove_node(graph: Graph) -> None:
    del graph["data"]["nodes"][3]


def _remove_operation(graph: Graph) -> None:
    del graph["data"]["operations"][2]


def _remove_session(graph: Graph) -> None:
    del graph["data"]["sessions"][0]


def _double(name: str) -> Callable[[Graph], None]:
    def change(graph: Graph) -> None:
        graph["data"][name].append(copy.deepcopy(graph["data"][name][5]))

    return change


def _close_cycle(graph: Graph) -> None:
    edge = copy.deepcopy(graph["data"]["edges"][7])
    edge["source_full_node_id"], edge["target_full_node_id"] = edge["target_full_node_id"], edge["source_full_node_id"]
    edge["edge_id"] = "edge-back"
    graph["data"]["edges"].append(edge)


def _loop(graph: Graph) -> None:
    edge = graph["data"]["edges"][9]
    edge["source_full_node_id"] = edge["target_full_node_id"]


def _set(path: str, value: Any) -> Callable[[Graph], None]:
    def change(graph: Graph) -> None:
        *parents, last = [int(part) if part.isdecimal() else part for part in path.split(".")]
        place: Any = graph
        for part in parents:
            place = place[part]
        place[last] = value

    return change


def _annotate(**fields: Any) -> Callable[[Graph], None]:
    def change(graph: Graph) -> None:
        query = next(node for node in graph["data"]["nodes"] if node["class_name"] == "query")
        graph["data"]["annotations"] = [{"query_id": query["full_node_id"], **fields}]

    return change


BAD: list[tuple[str, Callable[[Graph], None], str, str]] = [
    ("dangling target", _remove_node, "data.edges[", "is not in the file"),
    ("dangling operation", _remove_operation, ".op_id", "is not in the file"),
    ("dangling session", _remove_session, "data.operations[0]", "session"),
    ("node twice", _double("nodes"), "data.nodes[235]", "is there already"),
    ("edge twice", _double("edges"), "data.edges[431]", "is there already"),
    ("operation twice", _double("operations"), "data.operations[104]", "is there already"),
    ("session twice", _double("sessions"), "data.sessions[7]", "is there already"),
    ("cycle", _close_cycle, "data.edges[431]", "'edge-back'"),
    ("loop", _loop, "data.edges[9]", "closes a cycle"),
    ("value is no text", _set("data.nodes.4.value", 7), "data.nodes[4].value", "Expected 'str', got 'int'"),
    ("version is text", _set("data.nodes.4.version", "1"), "data.nodes[4].version", "Expected 'int"),
    ("metadata is a list", _set("data.nodes.4.metadata", []), "data.nodes[4].metadata", "Expected 'object'"),
    ("no time", _set("data.edges.2.created_at", "yesterday"), "data.edges[2].created_at", "'yesterday'"),
    (
        "no time of ours",
        _set("data.edges.2.created_at", "0001-01-01T00:00:00+14:00"),
        "data.edges[2].created_at",
        "0001-01-01",
    ),
    ("no time of the graph", _set("created_at", "2026-13-45"), "created_at", "2026-13-45"),
    ("nodes are an object", _set("data.nodes", {}), "data.nodes", "Expected 'array"),
    ("a node is null", _set("data.nodes.0", None), "data.nodes[0]", "Expected 'object"),
    ("no graph id", lambda graph: graph.pop("graph_id"), "", "missing required field 'graph_id'"),
    ("no data", lambda graph: graph.pop("data"), "", "missing required field 'data'"),
    ("a key is missing", lambda g: g["data"]["edges"][1].pop("op_id"), "data.edges[1]", "missing required field"),
    ("unknown error type", _annotate(final_error_type="Mistake"), "data.annotations[0].final_error_type", "'Mistake'"),
    ("unknown blame", _annotate(final_error_type="UpdateError", final_op_id="op-x"), "final_op_id", "'op-x'"),
    ("unknown evidence", _annotate(source_evidence_ids=["M@1"]), "source_evidence_ids", "'M@1'"),
    ("evidence is no list", _annotate(source_evidence_ids="M@1"), "source_evidence_ids", "Expected 'array'"),
    ("evidence is no name", _annotate(source_evidence_ids=[["M@1"]]), "source_evidence_ids", "['M@1']"),
    ("blame is no name", _annotate(final_error_type="UpdateError", final_op_id=["op"]), "final_op_id", "['op']"),
    ("error type is no name", _annotate(final_error_type=["UpdateError"]), "final_error_type", "['UpdateError']"),
    ("question is no name", _set("data.annotations", [{"query_id": ["q"]}]), "data.annotations[0].query_id", "['q']"),
    ("no question", _set("data.annotations", [{"final_error_type": "UpdateError"}]), "query_id", "must name its"),
    ("unknown query", _set("data.annotations", [{"query_id": "query:x@1"}]), "data.annotations[0].query_id", "query:x"),
]


@pytest.mark.parametrize(("change", "place", "problem"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
async def test_bad_graph(
    stores: list[tuple[GraphStore, Content]],
    tmp_path: Path,
    change: Callable[[Graph], None],
    place: str,
    problem: str,
) -> None:
    graph = sample()
    change(graph)
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(graph))
    await _is_refused(stores, path, place, problem)


RAW: list[tuple[str, Callable[[bytes], bytes], str, str]] = [
    ("empty", lambda _: b"", "", "the file is empty"),
    ("cut off", lambda data: data[: len(data) // 2], "byte", "not whole JSON"),
    ("no JSON", lambda _: b"graph_id: x\n", "line 1, column 1", "is not JSON"),
    ("no JSON for long", lambda _: b"[1," * 30_000 + b"x", "", "is nested too deeply"),
    ("no JSON further on", lambda data: data.replace(b": {", b": x", 1), "line 9, column 17", "is not JSON"),
    ("a list", lambda _: b"[]", "", "is of no format that is known"),
    ("another object", lambda _: b'{"spans": []}', "", "is of no format that is known"),
    ("an object in each other", lambda _: b'{"a":' * 30_000, "", "is nested too deeply"),
    ("two documents", lambda data: data + b"{}", "line", "is not JSON"),
    ("no UTF-8", lambda data: data.replace(b'"graph_id": "', b'"graph_id": "\xff\xfe', 1), "", ""),
    ("no UTF-8 in a value", lambda data: data.replace(b'"value": "', b'"value": "\xff\xfe', 1), "data.nodes[0]", ""),
    ("UTF-16", lambda data: data.decode().encode("utf-16"), "line 1, column 1", "is not JSON"),
    ("cut-off gzip", lambda data: gzip.compress(data)[:-100], "", "damaged or cut off"),
    ("cut-off zstd", lambda data: zstandard.compress(data)[:-100], "", "damaged or cut off"),
    ("damaged zstd", lambda data: zstandard.compress(data)[:40] + b"?" * 400, "", "damaged or cut off"),
]


@pytest.mark.parametrize(("change", "place", "problem"), [case[1:] for case in RAW], ids=[case[0] for case in RAW])
async def test_bad_bytes(
    stores: list[tuple[GraphStore, Content]],
    tmp_path: Path,
    change: Callable[[bytes], bytes],
    place: str,
    problem: str,
) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(change(SAMPLE.read_bytes()))
    await _is_refused(stores, path, place, problem)


Content = list[list[Any]]


@pytest_asyncio.fixture(scope="module")
async def stores(database: Database) -> AsyncIterator[list[tuple[GraphStore, Content]]]:
    """An empty project and a project with the sample, each with its content."""
    empty, full = (database.project(f"bad-{name}-{os.getpid()}") for name in ("empty", "full"))
    report = await import_path(full, SAMPLE)
    yield [(store, await content_of(store)) for store in (empty, full)]
    await full.delete_trace(report.trace_id)


async def _is_refused(stores: list[tuple[GraphStore, Content]], path: Path, place: str, problem: str) -> None:
    """Import a bad file into an empty project, and into a project with the original graph."""
    for store, before in stores:
        with pytest.raises(InputError) as caught:
            await import_path(store, path)
        assert caught.value.source == str(path)
        assert place in str(caught.value)
        assert problem in str(caught.value)
        assert await content_of(store) == before


async def content_of(store: GraphStore) -> Content:
    """The content of a project."""
    return [await all_of_project(store, label) for label in _ALL]


async def all_of_project(store: GraphStore, label: Label) -> list[Any]:
    traces = (await store.traces()).items
    if label is Label.TRACE:
        return list(traces)
    if label is Label.FAILURE:
        return list((await store.failures(None, 1_000)).items)
    return [element for trace in traces async for element in in_trace(store, label, trace.id)]


CHANGED: list[tuple[str, str, Any]] = [
    ("data.nodes.4.value", "data", "another value"),
    ("data.nodes.4.comment", "comment", "another comment"),
    ("data.operations.3.op_name", "name", "another name"),
    ("data.edges.3.category", "category", "another category"),
    ("data.sessions.0.comment", "comment", "another comment"),
    ("created_at", "createdAt", "2020-01-01 00:00:00.000"),
]


@pytest.mark.parametrize(("path", "field", "value"), CHANGED, ids=[case[0] for case in CHANGED])
async def test_a_stored_graph_with_other_content(
    stores: list[tuple[GraphStore, Content]], tmp_path: Path, path: str, field: str, value: Any
) -> None:
    graph = sample()
    _set(path, value)(graph)
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(graph))
    store, before = stores[1]
    with pytest.raises(InputError, match="'assistant-sample' is stored already"):
        await import_path(store, file)
    assert await content_of(store) == before


async def test_a_stored_graph_in_another_time_zone(stores: list[tuple[GraphStore, Content]]) -> None:
    store, before = stores[1]
    with pytest.raises(InputError, match="createdAt"):
        await import_path(store, SAMPLE, "Europe/Berlin")
    assert await content_of(store) == before


async def test_an_unknown_time_zone(database: Database) -> None:
    with pytest.raises(InputError, match="'Mars/Olympus' is no time zone"):
        await import_path(database.project("zone"), SAMPLE, "Mars/Olympus")


def test_files_that_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        find_files([tmp_path / "none.json"])
    with pytest.raises(InputError, match="holds no file of a trace"):
        find_files([tmp_path])
