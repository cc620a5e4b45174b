"""A scripted platform: a real HTTP server that answers as a test says, and keeps what it accepted."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import zstandard

Reply = tuple[int, dict[str, str], object]


class Platform(ThreadingHTTPServer):
    """Accepts events, unless a reply is next in ``replies``."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.requests: list[dict[str, str]] = []
        self.events: list[dict[str, Any]] = []
        self.replies: list[Reply | None] = []
        self.rule: Callable[[list[dict[str, Any]], dict[str, str]], Reply | None] = lambda events, headers: None

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Platform

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        match headers.get("content-encoding"):
            case "gzip":
                body = gzip.decompress(body)
            case "zstd":
                body = zstandard.ZstdDecompressor().decompress(body)
        events = [json.loads(line) for line in body.splitlines()]
        self.server.requests.append(headers | {"path": self.path})
        reply = self.server.replies.pop(0) if self.server.replies else None
        reply = reply or self.server.rule(events, headers)
        if reply is None:
            self.server.events.extend(events)
            reply = 200, {}, {"accepted": len(events), "rejected": []}
        elif reply[0] == 200:
            self.server.events.extend(events)
        status, more, content = reply
        answer = json.dumps(content).encode()
        self.send_response(status)
        for name, value in more.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args: object) -> None:
        """Tests are silent."""


@contextmanager
def running(port: int = 0) -> Iterator[Platform]:
    """A platform that answers."""
    platform = Platform(port)
    thread = threading.Thread(target=platform.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield platform
    finally:
        platform.shutdown()
        thread.join()
        platform.server_close()
