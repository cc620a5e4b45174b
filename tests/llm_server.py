"""A server that speaks OpenAI's protocol over real HTTP, with answers that a test has scripted."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DRIP_SECONDS = 0.02


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation so far."""
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages

    @property
    def last(self) -> str:
        """The newest message."""
        return str(self.messages[-1]["content"])

    @property
    def tools(self) -> list[str]:
        """Names of the tools that are offered."""
        return [tool["function"]["name"] for tool in self.body.get("tools", ())]


@dataclass(frozen=True)
class Answer:
    """What the server does with a request.

    Attributes:
        pace: ``whole``; ``drip``: a byte now and then, and never the last; ``hang``: nothing at all; ``drop``: ends
            the connection in the middle; ``endless``: the body again and again, without end.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    pace: str = "whole"


Script = Answer | Callable[[Request], Answer]

HANG = Answer(pace="hang")
DRIP = Answer(b" " * 100_000, pace="drip")
ENDLESS = Answer(b" " * 100_000, pace="endless")
DROP = Answer(b'{"choices": [', pace="drop")
GARBAGE = Answer(b'{"choices": [{"message"')


def _completion(message: dict[str, Any], finish: str, usage: tuple[int, int] | None) -> Answer:
    body: dict[str, Any] = {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}],
    }
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Answer(json.dumps(body).encode())


def say(text: str, usage: tuple[int, int] | None = (100, 20), finish: str = "stop") -> Answer:
    """The model says something."""
    return _completion({"content": text}, finish, usage)


def give(document: Any, usage: tuple[int, int] | None = (100, 20)) -> Answer:
    """The model says something in JSON."""
    return say(json.dumps(document), usage)


def refuse(reason: str) -> Answer:
    """The model refuses."""
    return _completion({"content": None, "refusal": reason}, "stop", (100, 5))


def call(*calls: tuple[str, Any], usage: tuple[int, int] | None = (100, 20)) -> Answer:
    """The model calls tools; arguments that are a string are sent as they are."""
    listed = [
        {
            "id": f"id-{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    return _completion({"content": None, "tool_calls": listed}, "tool_calls", usage)


def list_models(*names: str, **more: Any) -> Answer:
    """The server lists models."""
    data = [{"id": name, "object": "model", **more} for name in names]
    return Answer(json.dumps({"object": "list", "data": data}).encode())


def vectors(request: Request) -> Answer:
    """A vector for each text: its length and its number of spaces. The data come in another order."""
    texts = request.body["input"]
    data = [
        {"object": "embedding", "index": index, "embedding": [float(len(text)), float(text.count(" "))]}
        for index, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": sum(map(len, texts)), "total_tokens": sum(map(len, texts))}
    return Answer(json.dumps({"object": "list", "data": data[::-1], "model": "scripted", "usage": usage}).encode())


def fail(status: int, message: str = "", code: str | None = None, **headers: str) -> Answer:
    """An error; headers are named with underscores."""
    body = json.dumps({"error": {"message": message, "type": "error", "param": None, "code": code}}).encode()
    return Answer(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


class LlmServer:
    """Answers requests in the order of a script; the last entry repeats where ``repeat`` is set.

    Attributes:
        models: the answer to a request for the list of models.
        peak: the most requests that were under way at a time.
        hanging: set as soon as a client waits for an answer that never comes.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.models = fail(404, "no list")
        self.peak = 0
        self.hanging = threading.Event()
        self._script: deque[Script] = deque()
        self._repeat = False
        self._under_way = 0
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def script(self, *answers: Script, repeat: bool = False) -> None:
        """Script the next answers; an answer that was repeated until now is no longer given."""
        if self._repeat:
            self._script.clear()
        self._script.extend(answers)
        self._repeat = repeat

    @property
    def left(self) -> int:
        """Scripted answers that were not requested."""
        return len(self._script)

    def _next(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            if not self._script:
                return fail(418, "the script has ended")
            entry = self._script[0] if self._repeat and len(self._script) == 1 else self._script.popleft()
        return entry if isinstance(entry, Answer) else entry(request)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, and let go of clients that wait."""
        self._stopping.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Say nothing."""

            def do_GET(self) -> None:
                self._answer(server.models if self.path == "/v1/models" else fail(404, "no page"))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server._lock:
                    server._under_way += 1
                    server.peak = max(server.peak, server._under_way)
                try:
                    self._answer(server._next(Request(self.path, _headers(self.headers), body)))
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True
                finally:
                    with server._lock:
                        server._under_way -= 1

            def _answer(self, answer: Answer) -> None:
                if answer.pace == "hang":
                    server.hanging.set()
                    server._stopping.wait()
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                if answer.pace != "endless":
                    self.send_header("Content-Length", str(len(answer.body) + (answer.pace == "drop")))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if answer.pace == "drip":
                    for byte in answer.body:
                        self.wfile.write(bytes([byte]))
                        if server._stopping.wait(DRIP_SECONDS):
                            break
                    self.close_connection = True
                    return
                while answer.pace == "endless":
                    self.wfile.write(answer.body)
                self.wfile.write(answer.body)
                if answer.pace == "drop":
                    self.close_connection = True

        return Handler


def _headers(message: Message) -> dict[str, str]:
    return {name.title(): value for name, value in message.items()}


@contextmanager
def llm_server() -> Iterator[LlmServer]:
    """A server of its own."""
    server = LlmServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()
