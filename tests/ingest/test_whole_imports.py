"""The whole graph that is made of a file, or of events."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from ingest.files.registry import import_path
from schema.ids import trace_id
from schema.models import Derivation, Operation, Session, Trace, Variable, as_json
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.open import open_database
from store.shared.paging import elements
from tests.attribution.benchmark.sample import truth
from tests.data import SAMPLE
from tests.expected import compare
from tests.graph_files import GraphFile, conversation
from tests.queue.sets import closed_set, event_line

PROJECT = "whole"


async def whole_graph(store: GraphStore, trace: str) -> dict[str, Any]:
    """All rows of a trace, and all values that are not in the rows."""
    id_ = trace_id(store.project_id, trace)
    (found,) = await store.get(Label.TRACE, [id_])
    assert isinstance(found, Trace)
    variables = await elements(store, Variable, id_)
    outside = [one for one in variables if one.value is None]
    failures = (await store.failures(id_)).items
    verdicts = await store.attributions([one.id for one in failures])
    values = await store.values(outside)
    return {
        "Trace": as_json(found),
        "Session": [as_json(one) for one in await elements(store, Session, id_)],
        "Operation": [as_json(one) for one in await elements(store, Operation, id_)],
        "Variable": [as_json(one) for one in variables],
        "Derivation": [as_json(one) for one in await elements(store, Derivation, id_)],
        "values": {one.external_id: values[one.value_hash] for one in outside},
        "Failure": [as_json(one) for one in failures],
        "Attribution": [as_json(one) for one in verdicts],
        "Usage": [msgspec.to_builtins(one) for one in await store.usages(id_)],
        "Invalidation": [msgspec.to_builtins(one) for one in await store.invalidations(id_)],
    }


async def _imported(file: Path, *traces: str) -> dict[str, Any]:
    async with await open_database(f"sqlite:///{file.parent / 'test.db'}") as database:
        store = database.project(PROJECT)
        report = await import_path(store, file)
        graphs = {trace: await whole_graph(store, trace) for trace in traces}
    told = msgspec.to_builtins(report) | {"seconds": 0.0, "file": file.name}
    return {"report": told, **graphs}


def _odd(graph: GraphFile) -> GraphFile:
    """Beside an ordinary life: texts that are made again, reads of what was never made, and an operation of nothing."""
    graph.session("memory_maintenance")
    first = graph.text("the same text", "llm_response", "extracted_facts")
    graph.operation("memory_system.extract", "extraction", ([graph.text("one", "message")], first))
    graph.operation("memory_system.extract", "extraction", ([graph.text("two", "message")], first))
    graph.operation("memory_system.retrieve", "retrieval", ([graph.text("who?", "query", "query")], first))
    graph.operation("memory_system.delete", "deletion", ([first], graph.variable("gone", "deleted", "deleted_memory")))
    graph.operation("memory_system.idle", "update")
    return graph


async def test_a_graph_file(tmp_path: Path) -> None:
    file = _odd(conversation(6, 3, 200)).write(tmp_path / "graph.json")
    compare(__file__, "graph-file.json", await _imported(file, "graph-made-up"))


async def test_a_graph_file_with_labels(tmp_path: Path) -> None:
    known = truth()
    graph = json.loads(SAMPLE.read_text("utf-8"))
    graph["data"]["annotations"], graph["data"]["controls"] = known["failures"], known["controls"]
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(graph), "utf-8")
    found = await _imported(file, "assistant-sample")
    graph = found["assistant-sample"]
    parts = {
        "report": found["report"],
        **{part: graph[part] for part in ("Trace", "Session", "Failure", "Attribution")},
    }
    compare(__file__, "labels.json", parts)


async def test_a_file_of_events(tmp_path: Path) -> None:
    lines = [*closed_set("an agent", 12, Random(3)), *closed_set("another", 3, Random(4))]
    lines.append(event_line("used", "another", operation="o", variable="v", position=0))
    file = tmp_path / "events.ndjson"
    file.write_bytes(b"\n".join(lines))
    compare(__file__, "events.json", await _imported(file, "an agent", "another"))
