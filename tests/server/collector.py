"""OpenTelemetry's Collector between a program and the server. Tests can cut the way from the Collector to the server.

The Collector is a program in Go, and no Python package has it. ``make collector`` builds it from its modules, in a few
minutes, where Go is installed; another one that has the parts of ``collector-builder.yaml`` (the distributions
``otelcol`` and ``otelcol-contrib`` have) is used if it is on the path or named by ``MEMTRACE_TEST_OTELCOL``.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.ports import free_ports

_BUILT = Path(__file__).parents[2] / ".collector" / "otelcol"
_START_SECONDS = 120


def collector() -> str | None:
    """The Collector's program, if there is one here."""
    named = os.environ.get("MEMTRACE_TEST_OTELCOL")
    return named or (str(_BUILT) if _BUILT.exists() else shutil.which("otelcol") or shutil.which("otelcol-contrib"))


class Way(ThreadingHTTPServer):
    """The way from the Collector to the server, whose address changes when it is started anew.

    Attributes:
        target: the server's address; without one, each connection is closed without an answer.
        to_lose: number of acknowledged requests whose answer will be lost.
        batches: for each request that was acknowledged the ids of its spans.
        lost: acknowledged requests whose answer was lost.
        cut_off: number of requests that did not arrive.
        encodings: the encodings of the bodies.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target: str | None = None
        self.to_lose = 0
        self.batches: list[list[bytes]] = []
        self.lost: list[list[bytes]] = []
        self.cut_off = 0
        self.encodings: set[str | None] = set()
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """The address, which never changes."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def acknowledged(self) -> set[bytes]:
        """The ids of all spans that the Collector knows to be stored."""
        with self.lock:
            return {span for batch in self.batches for span in batch}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Way

    def log_message(self, *args: object) -> None:
        """Tests are silent."""

    def do_POST(self) -> None:
        way, body = self.server, self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in {"host", "connection"}}
        try:
            if way.target is None:
                raise httpx.ConnectError("the way is cut")
            answer = httpx.post(way.target + self.path, content=body, headers=headers, timeout=300)
        except httpx.TransportError:
            with way.lock:
                way.cut_off += 1
            self.close_connection = True
            return
        spans = _spans(gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body)
        with way.lock:
            way.encodings.add(self.headers["Content-Encoding"])
            is_lost = answer.status_code == 200 and way.to_lose > 0
            way.to_lose -= is_lost
            if answer.status_code == 200:
                (way.lost if is_lost else way.batches).append(spans)
        if is_lost:
            self.close_connection = True
            return
        self.send_response(answer.status_code)
        for name in ("Content-Type", "Retry-After"):
            if name in answer.headers:
                self.send_header(name, answer.headers[name])
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)


def _spans(body: bytes) -> list[bytes]:
    request = ExportTraceServiceRequest.FromString(body)
    return [
        span.span_id
        for of_resource in request.resource_spans
        for of_scope in of_resource.scope_spans
        for span in of_scope.spans
    ]


@contextmanager
def collecting(program: str, folder: Path, to: str, key: str) -> Iterator[str]:
    """The address of a Collector that batches spans, packs them and sends them on until they are acknowledged.

    Args:
        program: the Collector.
        folder: the folder for configuration and log.
        to: the way to the server.
        key: a key of the server.
    """
    (port,) = free_ports(1)
    retry = {"initial_interval": "50ms", "max_interval": "200ms", "max_elapsed_time": "0s"}
    exporter = {
        "endpoint": to,
        "compression": "gzip",
        "headers": {"Authorization": f"Bearer {key}"},
        "retry_on_failure": retry,
    }
    pipeline = {"receivers": ["otlp"], "processors": ["batch"], "exporters": ["otlphttp"]}
    settings = {
        "receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{port}"}}}},
        "processors": {"batch": {"timeout": "100ms", "send_batch_size": 20, "send_batch_max_size": 30}},
        "exporters": {"otlphttp": exporter},
        "service": {"pipelines": {"traces": pipeline}, "telemetry": {"metrics": {"level": "none"}}},
    }
    configuration, log = folder / "collector.yaml", folder / "collector.log"
    configuration.write_text(json.dumps(settings))  # YAML contains JSON
    with log.open("wb") as out:
        process = subprocess.Popen([program, "--config", str(configuration)], stdout=out, stderr=out)
    try:
        deadline = time.monotonic() + _START_SECONDS
        while "Everything is ready" not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(_START_SECONDS)
    assert process.returncode == 0, log.read_text()
