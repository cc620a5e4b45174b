"""A server that stands for two models: the agent's model and the model that improves prompts. Both are rules."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REFLECTING = "reflecting"
_ANSWERS = (("called", r"called (\w+)"), ("move", r"moved to (\w+)"), ("allergic", r"allergic to (\w+)"))


def reply(model: str, prompt: str) -> str:
    """What a model says."""
    if model == REFLECTING:
        return _improved(prompt)
    if prompt.startswith("List "):
        task, _, message = prompt.partition("\n\n")
        is_wanted = "about pets" not in task or "dog" in message
        return json.dumps([message] if is_wanted else [])
    notes, _, question = prompt.partition("Question: ")
    for word, pattern in _ANSWERS:
        found = re.search(pattern, notes) if word in question else None
        if found is not None:
            return found[1]
    return "I do not know."


def _improved(prompt: str) -> str:
    """What was asked for too narrowly is asked for as a whole; other prompts get a word more."""
    current = prompt.split("```")[1].strip()
    better = current.replace("the facts about pets", "all facts")
    return f"```\n{better if better != current else f'{current} Be careful.'}\n```"


Reply = Callable[[str, str], str]
"""What a model says: from its name and the prompt."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, says: Reply) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.says = says


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name of the base class)
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer as a server of chat completions does."""
        asked: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = self.server.says(asked["model"], asked["messages"][-1]["content"])
        said = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": asked["model"],
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}},
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serve(says: Reply = reply) -> Iterator[str]:
    """The server's base URL."""
    server = _Server(says)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
