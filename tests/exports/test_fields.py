"""Attributes of GenAI, times, parents, errors and names of exported operations."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ingest.exports.content import content_of
from ingest.exports.genai import genai_attributes
from ingest.exports.registry import EXPORTS
from schema.errors import InputError
from schema.kinds import OperationKind, Status, VariableKind
from schema.models import PREVIEW_CHARACTERS, WHOLE_VALUE_BYTES
from store.contract.protocol import Database, GraphStore
from tests.factory import TraceBuilder, moment


@pytest.fixture
def store(sqlite_database: Database) -> GraphStore:
    return sqlite_database.project(f"test-{uuid4().hex}")


@pytest.fixture
def trace(store: GraphStore) -> TraceBuilder:
    return TraceBuilder(store.project_id, "talk")


async def attributes(store: GraphStore, trace: TraceBuilder) -> list[dict[str, Any]]:
    """The attributes of GenAI of each operation, with JSON read."""
    await trace.write(store)
    content = await content_of(store, trace.trace)
    found = [genai_attributes(content, operation) for operation in content.operations]
    names = ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.retrieval.documents", "gen_ai.memory.records")
    return [{name: json.loads(said) if name in names else said for name, said in one.items()} for one in found]


def message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


async def test_a_model_call_has_its_prompt_or_else_what_it_used(store: GraphStore, trace: TraceBuilder) -> None:
    context = trace.variable("context", "c", kind=VariableKind.CONTEXT)
    prompted, plain = (trace.operation(name, kind=OperationKind.GENERATION) for name in ("prompted", "plain"))
    for operation in (prompted, plain):
        trace.use(operation, context, context)
    trace.variable("prompt", "p", prompted, kind=VariableKind.PROMPT)
    trace.variable("a1", "first", prompted, kind=VariableKind.ANSWER)
    trace.variable("a2", "x" * (WHOLE_VALUE_BYTES + 1), plain, kind=VariableKind.ANSWER)
    assert await attributes(store, trace) == [
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": [message("user", "p")],
            "gen_ai.output.messages": [message("assistant", "first")],
        },
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": [message("user", "c")],
            "gen_ai.output.messages": [message("assistant", "x" * PREVIEW_CHARACTERS)],
        },
    ]


@pytest.mark.parametrize("kind", [VariableKind.QUERY, VariableKind.REFINED_QUERY, VariableKind.CONTEXT])
@pytest.mark.parametrize("is_made", [False, True])
async def test_a_search_has_its_query_and_its_documents(
    store: GraphStore, trace: TraceBuilder, kind: VariableKind, is_made: bool
) -> None:
    search = trace.operation("search", kind=OperationKind.RETRIEVAL)
    query = trace.variable("q", "where?", search if is_made else None, kind=kind)
    trace.use(search, query)
    trace.variable("d1", "here", search)
    (found,) = await attributes(store, trace)
    is_query = kind is not VariableKind.CONTEXT
    documents = [{"id": "d1", "content": "here"}]
    if is_made and not is_query:
        documents.insert(0, {"id": "q", "content": "where?"})
    assert found == {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.documents": documents,
        **({"gen_ai.retrieval.query.text": "where?"} if is_query else {}),
    }


async def test_tools_and_memories(store: GraphStore, trace: TraceBuilder) -> None:
    given = [trace.variable(name, name, kind=VariableKind.OTHER) for name in ("x", "y")]
    for name in ("named tool", None):
        tool = trace.operation(f"tool {name}", kind=OperationKind.TOOL, name=name)
        trace.use(tool, *given)
        for number in (1, 2):
            trace.variable(f"{name} {number}", str(number), tool, kind=VariableKind.OTHER)
    units = []
    for kind in (OperationKind.EXTRACTION, OperationKind.UPDATE):
        step = trace.operation(kind.value, kind=kind)
        units.append(trace.variable(f"unit of {kind.value}", kind.value, step))
        trace.variable(f"other of {kind.value}", "no unit", step, kind=VariableKind.OTHER)
    for number in (1, 2):
        trace.invalidate(trace.operation(f"deletion {number}", kind=OperationKind.DELETION), *units[:number])
    trace.operation("other", kind=OperationKind.OTHER)
    trace.operation("embedding", kind=OperationKind.EMBEDDING)
    tool_said = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.arguments": "x\ny",
        "gen_ai.tool.call.result": "1\n2",
    }
    assert await attributes(store, trace) == [
        tool_said | {"gen_ai.tool.name": "named tool"},
        tool_said | {"gen_ai.tool.name": "execute_tool"},
        {
            "gen_ai.operation.name": "create_memory",
            "gen_ai.memory.record.count": 1,
            "gen_ai.memory.records": [{"id": "unit of Extraction", "content": "Extraction"}],
        },
        {
            "gen_ai.operation.name": "update_memory",
            "gen_ai.memory.record.count": 1,
            "gen_ai.memory.records": [{"id": "unit of Update", "content": "Update"}],
        },
        {
            "gen_ai.operation.name": "delete_memory",
            "gen_ai.memory.record.count": 1,
            "gen_ai.memory.record.id": "unit of Extraction",
        },
        {"gen_ai.operation.name": "delete_memory", "gen_ai.memory.record.count": 2},
        {},
        {"gen_ai.operation.name": "embeddings"},
    ]


def nested_steps(trace: TraceBuilder) -> None:
    outer = trace.operation("outer", name="outer step", started_at=moment(1), ended_at=moment(9))
    parent = json.dumps({"parentId": outer.id, "error": {"type": "KeyError", "message": "'x'"}})
    trace.operation("failed", attributes=parent, status=Status.ERROR, started_at=moment(2), ended_at=None)
    trace.operation("unnamed", name=None, started_at=None, ended_at=None, attributes='{"parentId": "unknown"}')


async def export(store: GraphStore, trace: TraceBuilder, form: str) -> bytes:
    await trace.write(store)
    out = io.BytesIO()
    await EXPORTS[form].write(store, trace.trace, out)
    return out.getvalue()


async def test_spans_of_opentelemetry(store: GraphStore, trace: TraceBuilder) -> None:
    nested_steps(trace)
    request = ExportTraceServiceRequest.FromString(await export(store, trace, "otlp"))
    (of_scope,) = [one for part in request.resource_spans for one in part.scope_spans]
    assert of_scope.scope.name == "memtrace"
    root, *spans = of_scope.spans
    times = [nanoseconds(moment(number)) for number in (1, 2, 9)]
    began = nanoseconds(trace.trace.created_at or datetime.now(UTC))
    assert [(one.name, one.status.code) for one in (root, *spans)] == [
        ("the talk", 0),
        ("outer step", 0),
        ("operation failed", 2),
        ("Update", 0),
    ]
    assert [(one.start_time_unix_nano, one.end_time_unix_nano) for one in (root, *spans)] == [
        (times[0], times[2]),
        (times[0], times[2]),
        (times[1], times[1]),
        (began, began),
    ]
    assert [one.parent_span_id for one in (root, *spans)] == [b"", root.span_id, spans[0].span_id, root.span_id]
    assert {one.trace_id.hex() for one in (root, *spans)} == {trace.trace.id}


async def test_a_trace_without_operations_begins_and_ends_at_once(store: GraphStore, trace: TraceBuilder) -> None:
    trace.trace = replace(trace.trace, name=None)
    request = ExportTraceServiceRequest.FromString(await export(store, trace, "otlp"))
    (root,) = request.resource_spans[0].scope_spans[0].spans
    assert root.name == "talk"
    began = nanoseconds(trace.trace.created_at or datetime.now(UTC))
    assert (root.start_time_unix_nano, root.end_time_unix_nano) == (began, began)


@pytest.mark.parametrize("by_operation", [True, False])
async def test_a_span_that_would_be_too_large(
    store: GraphStore, trace: TraceBuilder, monkeypatch: pytest.MonkeyPatch, by_operation: bool
) -> None:
    operation = trace.operation("o")
    for number in (1, 2):
        trace.variable(f"v{number}", "x" * 5, operation if by_operation else None)
    monkeypatch.setattr("ingest.exports.otlp.MOST_BYTES", 10)
    await export(store, trace, "otlp")
    monkeypatch.setattr("ingest.exports.otlp.MOST_BYTES", 9)
    with pytest.raises(InputError, match=operation.id if by_operation else "what comes from outside"):
        await export(store, trace, "otlp")


async def test_runs_of_openlineage(store: GraphStore, trace: TraceBuilder) -> None:
    nested_steps(trace)
    for status in (Status.CANCELLED, Status.RUNNING, Status.UNKNOWN):
        trace.operation(status.value, status=status)
    lines = [json.loads(line) for line in (await export(store, trace, "openlineage")).splitlines()]
    first, last = lines[::2], lines[1::2]
    assert {one["eventType"] for one in first} == {"START"}
    assert [one["eventType"] for one in last] == ["COMPLETE", "FAIL", "COMPLETE", "ABORT", "RUNNING", "OTHER"]
    assert [one["job"]["name"] for one in last[:3]] == ["outer step", "operation failed", "Update"]
    assert [one["eventTime"] == two["eventTime"] for one, two in zip(first, last, strict=True)][:3] == [
        False,
        True,
        True,
    ]
    facets = [one["run"]["facets"] for one in last[:3]]
    assert [sorted(one) for one in facets] == [[], ["errorMessage", "parent"], []]
    assert facets[1]["parent"]["run"]["runId"] == last[0]["run"]["runId"]
    assert facets[1]["parent"]["job"]["name"] == "outer step"
    assert facets[1]["errorMessage"]["message"] == "KeyError: 'x'"
    assert sorted(first[1]["run"]["facets"]) == ["parent"]


async def test_datasets_of_openlineage(store: GraphStore, trace: TraceBuilder) -> None:
    source = trace.variable("u@1", "one", name="u")
    step = trace.operation("o")
    trace.use(step, source, source)
    target = trace.variable("u@2", "two", step, name="u")
    answer = trace.variable("a@1", "three", step, name="a", kind=VariableKind.ANSWER)
    trace.derive(target, source, by=step)
    last = json.loads((await export(store, trace, "openlineage")).splitlines()[1])
    assert [(one["name"], one["facets"]["version"]["datasetVersion"]) for one in last["inputs"]] == [
        ("talk/u", source.id)
    ]
    assert [(one["name"], one["facets"]["version"]["datasetVersion"]) for one in last["outputs"]] == [
        ("talk/u", target.id),
        ("talk/a@1", answer.id),
    ]
    assert ["columnLineage" in one["facets"] for one in last["outputs"]] == [True, False]
    fields = last["outputs"][0]["facets"]["columnLineage"]["fields"]["value"]["inputFields"]
    assert [(one["name"], one["field"]) for one in fields] == [("talk/u", "value")]


def nanoseconds(time: datetime) -> int:
    since = time - datetime(1970, 1, 1, tzinfo=UTC)
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000
