"""The server's own spans: they come, and hold nothing of what was asked or answered."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

import api.server
from api.http.tracing import Tracing, tracing_of
from tests.server.inside import serving, settings_for

SECRET = "the-cat-is-called-Mimi"
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


def make_app(folder: Path, exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch) -> FastAPI:
    """An application that keeps its spans, and has a route that breaks."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(api.server, "tracing_of", lambda _: Tracing(provider))
    app = api.server.create_app(settings_for(folder))

    @app.get("/test/broken/{what}")
    async def fail(what: str) -> None:
        raise KeyError(what + SECRET)

    return app


def ask(client: httpx.Client) -> None:
    """Say the secret wherever something can be said."""
    headers = {
        "traceparent": f"00-{TRACE_ID}-b7ad6b7169203331-01",
        "tracestate": f"a={SECRET}",
        "baggage": f"b={SECRET}",
        "User-Agent": SECRET,
        "Authorization": f"Bearer {SECRET}",
        "X-Request-Id": "find-me",
    }
    query = {"query": f"{{ __typename }} # {SECRET}", "variables": {"a": SECRET}}
    client.get(f"/v1/export/{SECRET}", params={"q": SECRET}, headers=headers)
    client.post("/graphql", json=query, headers=headers)
    client.get(f"/test/broken/{SECRET}")
    client.get(f"/nowhere/{SECRET}")
    client.post("/v1/import", content=SECRET.encode() * 10, headers=headers)


def test_spans_without_what_was_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = InMemorySpanExporter()
    with serving(make_app(tmp_path, exporter, monkeypatch)) as url, httpx.Client(base_url=url, timeout=300) as client:
        ask(client)
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert set(spans) == {
        "GET /v1/export/{trace}",
        "POST /graphql",
        "GET /test/broken/{what}",
        "GET",
        "POST /v1/import",
    }
    export = spans["GET /v1/export/{trace}"]
    assert dict(export.attributes or {}) == {
        "http.request.method": "GET",
        "http.route": "/v1/export/{trace}",
        "http.response.status_code": 401,
        "memtrace.request_id": "find-me",
    }
    assert format(export.context.trace_id, "032x") == TRACE_ID
    assert export.status.status_code is StatusCode.UNSET
    assert spans["GET /test/broken/{what}"].status.status_code is StatusCode.ERROR
    for span in spans.values():
        assert not span.events
        assert SECRET not in span.to_json() + str(dict(span.context.trace_state))


def test_off_by_default(tmp_path: Path) -> None:
    assert tracing_of(settings_for(tmp_path)) is None


def test_sent_over_otlp(tmp_path: Path) -> None:
    """A collector gets the spans at the latest when the server ends."""
    got: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

        def do_POST(self) -> None:
            got.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    collector = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=collector.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    endpoint = f"http://127.0.0.1:{collector.server_port}/v1/traces"
    app = api.server.create_app(settings_for(tmp_path, otlp_endpoint=endpoint))
    with serving(app) as url:
        assert httpx.get(f"{url}/healthz", timeout=300).status_code == 200
    collector.shutdown()
    thread.join()
    collector.server_close()
    assert {path for path, _ in got} == {"/v1/traces"}
    assert b"GET /healthz" in b"".join(body for _, body in got)
