"""A server that speaks the HTTP interfaces of EverMind's memory, as far as its clients use them.

What is said is kept for each user, and found again whole: this server takes each message for a memory.
"""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.http_threads import serving


class ScriptedEverOS(ThreadingHTTPServer):
    """The server."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.said: dict[str, list[str]] = {}
        self.paths: list[str] = []

    @property
    def url(self) -> str:
        """The base address for clients."""
        return f"http://127.0.0.1:{self.server_address[1]}"


def running() -> AbstractContextManager[ScriptedEverOS]:
    """A server that answers."""
    return serving(ScriptedEverOS())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedEverOS

    def log_message(self, *args: object) -> None:
        """Tests are silent."""

    def _answer(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = urlsplit(self.path)
        given: dict[str, Any] = {name: values[0] for name, values in parse_qs(asked.query).items()}
        given |= json.loads(raw) if raw else {}
        given |= given.get("filters") or {}
        self.server.paths.append(f"{self.command} {asked.path}")
        if given.get("query") == "fail":
            self._send(500, {"detail": "the script fails here"})
            return
        is_search = asked.path.endswith(("/search", "/get")) or (self.command == "GET" and "memories" in asked.path)
        user = given.get("user_id") or given.get("sender") or ""
        if is_search:
            self._send(200, self._found(user))
            return
        for message in given.get("messages") or ([given] if "content" in given else []):
            content = message["content"]
            text = content if isinstance(content, str) else content[0]["text"]
            self.server.said.setdefault(user or message.get("sender_id", ""), []).append(text)
        if asked.path.startswith("/api/v2") and asked.path.endswith("/flush"):
            self._send(200, {"request_id": "r1", "data": {"status": "extracted"}})
            return
        if asked.path.endswith("/delete"):
            self._send(200, {"request_id": "r1", "data": {"filters": ["user_id"], "count": 1}})
            return
        task = {"status": "queued", "task_id": "t1", "message_count": 1}
        self._send(200, {"request_id": "r1", "status": "queued", "message": "queued", "task_id": "t1", "data": task})

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _found(self, user: str) -> dict[str, Any]:
        memories = [
            {
                "id": f"{user}-{number}",
                "user_id": user,
                "memory_type": "episodic_memory",
                "timestamp": "2026-01-15T10:00:00+00:00",
                "episode": f"{user} said: {text}",
                "summary": f"{user} said: {text}",
                "app_id": "default",
                "project_id": "default",
                "subject": "home",
                "type": "Conversation",
                "score": round(0.9 - number / 10, 2),
            }
            for number, text in enumerate(self.server.said.get(user, ()))
        ]
        return {
            "request_id": "r1",
            "status": "ok",
            "message": "",
            "result": {"memories": memories, "profiles": [], "total_count": len(memories)},
            "data": {"episodes": memories, "profiles": []},
        }

    def _send(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
