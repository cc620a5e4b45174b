"""A real Collector between OpenTelemetry's SDK and the server, which is killed in between: one and the same graph."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Tracer

from tests.http_threads import serving
from tests.otlp.spans import chat, memory
from tests.server.collector import Way, collecting, collector
from tests.server.running import RunningServer, running, sqlite_place
from tests.server.test_otlp_instrumentations import graph

TURNS = 40
TRACE = "agent of Ada"
PATIENCE_SECONDS = 300


@contextmanager
def span(tracer: Tracer, name: str, said: dict[str, Any]) -> Iterator[None]:
    attributes = {key: value if isinstance(value, int | str) else json.dumps(value) for key, value in said.items()}
    with tracer.start_as_current_span(name, attributes=attributes):
        yield


def turn(tracer: Tracer, number: int) -> None:
    """A turn of the program: something is said and remembered, then it is asked for; two traces of OpenTelemetry."""
    fact, asked = f"Ada keeps {number} tortoises in garden {number}.", f"What does Ada keep in garden {number}?"
    record = f"u{number}"
    with span(tracer, "told", {"gen_ai.operation.name": "invoke_agent"}):
        with span(tracer, "chat", chat([("user", fact)], fact)):
            pass
        with span(tracer, "create", memory("create_memory", record, fact)):
            pass
    found = {"gen_ai.memory.query.text": asked, "gen_ai.memory.records": [{"id": record, "content": fact}]}
    with span(tracer, "asked", {"gen_ai.operation.name": "invoke_agent"}):
        with span(tracer, "search", memory("search_memory") | found):
            pass
        with span(tracer, "chat", chat([("system", f"Known: {fact}"), ("user", asked)], f"{number} tortoises.")):
            pass


def until(true: Callable[[], bool], what: Callable[[], str]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < deadline, what()
        time.sleep(0.02)


def test_one_graph_through_a_collector_while_the_server_is_killed(tmp_path: Path) -> None:
    program = collector()
    if program is None:
        pytest.skip(
            "there is no Collector here: `make collector` builds it where Go is installed (tests/server/collector.py)"
        )
    place, kept = sqlite_place(tmp_path), InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "agent", "memtrace.trace": TRACE}))
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("agent", "1.0")
    with (
        serving(Way()) as way,
        collecting(program, tmp_path, way.url, place.make_key("writer", "collected")) as address,
    ):
        exporter = OTLPSpanExporter(f"{address}/v1/traces", compression=Compression.Gzip)
        provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=50, max_export_batch_size=7))

        def all_arrive() -> None:
            assert provider.force_flush()
            sent = {one.context.span_id.to_bytes(8, "big") for one in kept.get_finished_spans() if one.context}
            until(lambda: way.acknowledged() >= sent, lambda: f"{len(sent - way.acknowledged())} did not arrive")

        with running(place, tmp_path) as server:
            way.target = server.url
            for number in range(TURNS // 2):
                turn(tracer, number)
            all_arrive()
            server.kill()
        for number in range(TURNS // 2, TURNS):
            turn(tracer, number)
        assert provider.force_flush()
        until(lambda: way.cut_off >= 3, lambda: "nobody tried again")
        way.to_lose = 2
        with running(place, tmp_path) as server:
            way.target = server.url
            all_arrive()
            provider.shutdown()
            assert (way.encodings, len(way.lost)) == ({"gzip"}, 2)
            assert any(len(batch) > 7 for batch in way.batches)  # of several of the program's requests
            _is_as_without_it(server, kept)


def _is_as_without_it(server: RunningServer, kept: InMemorySpanExporter) -> None:
    spans, headers = kept.get_finished_spans(), server.headers("writer", "straight")
    straight = OTLPSpanExporter(f"{server.url}/v1/traces", headers=headers)
    assert straight.export(spans) is SpanExportResult.SUCCESS
    found, expected = graph(server, TRACE, "collected"), graph(server, TRACE, "straight")
    assert found == expected
    assert len(found["activity"]) == len(spans) == 6 * TURNS
    comments = [dict(one).get("memtrace:comment") for one in found["wasDerivedFrom"]]
    assert comments.count("same id") >= TURNS
