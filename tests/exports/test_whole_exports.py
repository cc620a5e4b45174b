"""Whole exports of a small trace, in each format."""

from __future__ import annotations

import io
import json
from pathlib import Path

import msgspec
import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ingest.exports.registry import EXPORTS
from ingest.files.registry import import_path
from ingest.files.smartcomment.write import export_trace
from schema.ids import trace_id
from schema.models import Trace
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.open import open_database
from tests.contract.samples import assistant
from tests.expected import compare
from tests.graph_files import conversation
from tests.rich_trace import NAME, rich

PROJECT = "whole"


async def _built(store: GraphStore, _: Path) -> str:
    await assistant(PROJECT).write(store)
    return "assistant"


async def _rich(store: GraphStore, _: Path) -> str:
    for trace in rich(PROJECT):
        await trace.write(store)
    return NAME


async def _bare(store: GraphStore, _: Path) -> str:
    await _rich(store, _)
    return "bare"


async def _imported(store: GraphStore, folder: Path) -> str:
    graph = conversation(6, 2, 200)
    await import_path(store, graph.write(folder / "graph.json"))
    return graph.graph_id


TRACES = {"built": _built, "imported": _imported, "rich": _rich, "bare": _bare}


def _readable(form: str, data: bytes) -> str:
    """An export as text, with a line for each part."""
    if form == "otlp":
        request = ExportTraceServiceRequest.FromString(data)
        return json_format.MessageToJson(request, preserving_proto_field_name=True, indent=1) + "\n"
    if form == "prov-json":
        return json.dumps(json.loads(data), indent=1, ensure_ascii=False) + "\n"
    return data.decode()


@pytest.mark.parametrize("form", EXPORTS)
@pytest.mark.parametrize("name", TRACES)
async def test_an_export(tmp_path: Path, name: str, form: str) -> None:
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}") as database:
        store = database.project(PROJECT)
        external_id = await TRACES[name](store, tmp_path)
        (trace,) = await store.get(Label.TRACE, [trace_id(PROJECT, external_id)])
        assert isinstance(trace, Trace)
        out = io.BytesIO()
        await EXPORTS[form].write(store, trace, out)
    compare(__file__, f"{name}.{form}{'' if form == 'openlineage' else '.json'}", _readable(form, out.getvalue()))


async def test_a_graph_file(tmp_path: Path) -> None:
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}") as database:
        store = database.project(PROJECT)
        external_id = await _imported(store, tmp_path)
        out = io.BytesIO()
        await export_trace(store, trace_id(PROJECT, external_id), out)
    compare(__file__, "imported.smartcomment.json", msgspec.json.decode(out.getvalue()))
