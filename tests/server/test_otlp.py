"""The door of OpenTelemetry: real exporters, what is refused, and a server that is killed in between."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import httpx
import pytest
import zstandard
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from api.http.problems import problem_of
from schema.errors import QueueFullError
from tests.otlp.spans import Sent, as_json, chat, memory, protobuf
from tests.server.running import Place, RunningServer, running, sqlite_place
from tests.server.wire_events import drained

PROTOBUF, JSON = "application/x-protobuf", "application/json"


def _post(
    server: RunningServer, body: bytes, kind: str = PROTOBUF, project: str | None = None, **headers: str
) -> httpx.Response:
    with server.client("writer", project) as client:
        return client.post("/v1/traces", content=body, headers={"Content-Type": kind} | headers)


def _recorded(trace: str) -> Sequence[ReadableSpan]:
    """Spans of a program that uses OpenTelemetry's own SDK: two turns with a memory, each a trace of its own."""
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "agent", "memtrace.trace": trace}))
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("agent", "1.0")

    @contextmanager
    def span(name: str, **said: Any) -> Iterator[None]:
        attributes = {key: value if isinstance(value, int | str) else json.dumps(value) for key, value in said.items()}
        with tracer.start_as_current_span(name, attributes=attributes):
            yield

    fact, asked = "Ada keeps two tortoises in her garden.", "What does Ada keep?"
    with span("agent", **{"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": [_user(fact)]}):
        with span("chat", **chat([("user", fact)], fact)):
            pass
        with span("create_memory", **memory("create_memory", "u1", fact)):
            pass
    with span("agent", **{"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": [_user(asked)]}):
        found = {"gen_ai.memory.query.text": asked, "gen_ai.memory.records": [{"id": "u1", "content": fact}]}
        with span("search_memory", **memory("search_memory"), **found):
            pass
        with span("chat", **chat([("system", f"Known: {fact}"), ("user", asked)], "Two tortoises.")):
            pass
    return kept.get_finished_spans()


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


_GRAPH = """query($t: String!) { project { trace(reference: $t) {
  counts { variables derivations operations }
} } }"""


def _graph(server: RunningServer, trace: str, project: str | None = None) -> dict[str, Any]:
    """What can be told of a trace, without the places in it."""
    drained(server)
    with server.client(project=project) as client:
        answer = client.post("/graphql", json={"query": _GRAPH, "variables": {"t": trace}}).json()
        prov = client.get(f"/v1/export/{trace}", params={"format": "prov-json"})
    assert "errors" not in answer, answer
    found: dict[str, Any] = answer["data"]["project"]["trace"]
    found["counts"].update({name: part for name, part in prov.json().items() if name != "prefix"})
    counts: dict[str, Any] = found["counts"]
    return counts


@pytest.mark.parametrize("compression", list(Compression))
def test_the_exporter_of_the_sdk(server: RunningServer, compression: Compression) -> None:
    trace = uuid4().hex
    spans = _recorded(trace)
    exporter = OTLPSpanExporter(f"{server.url}/v1/traces", headers=server.headers("writer"), compression=compression)
    assert exporter.export(spans) is SpanExportResult.SUCCESS
    whole = _graph(server, trace)
    assert whole["operations"] == len(spans)
    kinds = {one["memtrace:kind"] for one in whole["entity"].values()}
    assert kinds == {"Query", "RefinedQuery", "Prompt", "Response", "MemoryUnit"}
    comments = {one.get("memtrace:comment") for one in whole["wasDerivedFrom"].values()}
    assert "same id" in comments
    shuffled = [*spans, *spans]
    Random(compression.value).shuffle(shuffled)
    for one in shuffled:
        assert exporter.export([one]) is SpanExportResult.SUCCESS
    assert _graph(server, trace) == whole


@pytest.mark.full
def test_killed_in_between(tmp_path: Path) -> None:
    """What was acknowledged before the kill is in the graph after it, with the same edges as without."""
    place: Place = sqlite_place(tmp_path)
    calm, killed = uuid4().hex, uuid4().hex
    spans = _recorded("to be replaced")

    def body(part: Sequence[ReadableSpan], trace: str) -> bytes:
        from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

        request = encode_spans(part)
        for of_resource in request.resource_spans:
            for pair in of_resource.resource.attributes:
                if pair.key == "memtrace.trace":
                    pair.value.string_value = trace
        return request.SerializeToString()

    late, early = spans[: len(spans) // 2], spans[len(spans) // 2 :]
    for part in (early, late):
        with running(place, tmp_path) as server:
            for one in reversed(part):
                assert _post(server, body([one], killed), project="p").status_code == 200
            server.kill()
    with running(place, tmp_path) as server:
        assert _post(server, body(spans, calm), project="p").status_code == 200
        found, expected = _graph(server, killed, "p"), _graph(server, calm, "p")
    assert {name: len(part) if isinstance(part, dict) else part for name, part in found.items()} == {
        name: len(part) if isinstance(part, dict) else part for name, part in expected.items()
    }
    assert _shape(found) == _shape(expected)


def _shape(graph: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    """The derivations by the names of their variables, which are the same in both traces."""
    names = {id_: one["memtrace:id"] for id_, one in graph["entity"].items()}
    return sorted(
        (names[one["prov:generatedEntity"]], names[one["prov:usedEntity"]], one.get("memtrace:comment", ""))
        for one in graph["wasDerivedFrom"].values()
    )


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstandard.compress), ("identity", bytes)],
)
@pytest.mark.parametrize("kind", [PROTOBUF, JSON])
def test_the_answer_is_of_the_type_of_the_request(server: RunningServer, kind: str, encoding: str, pack: Any) -> None:
    write = protobuf if kind == PROTOBUF else as_json
    for spans in ([Sent("a", "a", 0, 1)], []):
        answer = _post(server, pack(write(spans)), kind, **{"Content-Encoding": encoding})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == kind
        assert answer.content == (b"" if kind == PROTOBUF else b"{}")


@pytest.mark.one_engine
def test_bad_spans_are_counted_and_the_others_are_taken(server: RunningServer) -> None:
    good, bad = uuid4().hex, {"memtrace.events": json.dumps([{"type": "nonsense"}])}
    resource = {"memtrace.trace": good}
    body = protobuf([Sent("a", "a", 0, 1, resource=resource), Sent("b", "b", 0, 1, bad, resource=resource)])
    answer = ExportTraceServiceResponse.FromString(_post(server, body).content)
    assert answer.partial_success.rejected_spans == 1
    assert "type" in answer.partial_success.error_message
    assert _graph(server, good)["operations"] == 1
    document = json.loads(as_json([Sent("a", "a", 0, 1)]))
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = "5b8e"
    partial = _post(server, json.dumps(document).encode(), JSON).json()["partialSuccess"]
    assert partial["rejectedSpans"] == "1"
    assert "traceId" in partial["errorMessage"]


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("body", "kind", "headers", "status"),
    [
        (b"\xff\xff\xff", PROTOBUF, {}, 400),
        (b"{]", JSON, {}, 400),
        (b'{"resourceSpans": 1}', JSON, {}, 400),
        (b"garbage", PROTOBUF, {"Content-Encoding": "gzip"}, 400),
        (zlib.compress(b"x" * 1000)[:-3], PROTOBUF, {"Content-Encoding": "deflate"}, 400),
        (b"", "text/plain", {}, 415),
        (b"", PROTOBUF, {"Content-Encoding": "br"}, 415),
        (gzip.compress(b"\0" * (65 << 20), 1), PROTOBUF, {"Content-Encoding": "gzip"}, 413),
        (zlib.compress(b"\0" * (65 << 20), 1), PROTOBUF, {"Content-Encoding": "deflate"}, 413),
    ],
)
def test_what_is_refused_as_a_whole(
    server: RunningServer, body: bytes, kind: str, headers: dict[str, str], status: int
) -> None:
    answer = _post(server, body, kind, **headers)
    assert answer.status_code == status, answer.text
    assert answer.json()["status"] == status


@pytest.mark.one_engine
def test_too_many_spans(server: RunningServer) -> None:
    one = protobuf([Sent("a", "a", 0, 1, resource={})])
    assert _post(server, one * 20_001).status_code == 413


def test_too_many_empty_resources(server: RunningServer) -> None:
    answer = _post(server, b"\x0a\x00" * 20_001)
    assert (answer.status_code, answer.json()["detail"]) == (
        413,
        "a request holds at most 20,000 resources and scopes: send several",
    )


@pytest.mark.parametrize(("path", "seconds"), [("/v1/traces", "1"), ("/v1/events", "5")])
def test_exporters_are_told_to_come_again_soon(path: str, seconds: str) -> None:
    """They give up after ten seconds in all, whatever they were told."""
    answer = problem_of({"type": "http", "path": path, "method": "POST"}, QueueFullError())
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, seconds)
