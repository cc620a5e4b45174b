"""A server that speaks OpenAI's interface over HTTP: chat, responses, completions, embeddings, whole and streamed.

What the model says is a function of the request's body: a text, a message (with tool calls), or a status to fail with.
Embeddings are bags of words, so that texts that share words are near each other.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
import time
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.http_threads import serving

Script = Callable[[dict[str, Any]], str | dict[str, Any] | int]

DIMENSIONS = 512
_PIECE = 4
_USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}


def embedding(text: str) -> list[float]:
    """A vector of unit length: the words of the text, each at a place of its own or shared with few others."""
    vector = [0.001] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        vector[zlib.crc32(word.removesuffix("s").encode()) % DIMENSIONS] += 1.0
    length = math.sqrt(sum(number * number for number in vector))
    return [number / length for number in vector]


class ScriptedOpenAI(ThreadingHTTPServer):
    """The server; ``requests`` are the paths and bodies that came."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, script: Script, delay: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.delay = delay
        self.requests: list[tuple[str, dict[str, Any]]] = []

    @property
    def url(self) -> str:
        """The base address for clients."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


def running(script: Script, delay: float = 0.0) -> AbstractContextManager[ScriptedOpenAI]:
    """A server that answers; each model's answer takes ``delay`` seconds."""
    return serving(ScriptedOpenAI(script, delay))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedOpenAI

    def log_message(self, *args: object) -> None:
        """Tests are silent."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body))
        if self.path.endswith("/embeddings"):
            self._whole(_embeddings(body))
            return
        if self.server.delay:
            time.sleep(self.server.delay)
        said = self.server.script(body)
        if isinstance(said, int):
            self._whole({"error": {"message": "the script fails here", "type": "scripted", "code": None}}, said)
            return
        message = said if isinstance(said, dict) else {"content": said}
        message = {"role": "assistant", "content": None, **message}
        if self.path.endswith("/responses"):
            self._responses(body, message)
        elif self.path.endswith("/chat/completions"):
            self._chat(body, message)
        else:
            choice = {"index": 0, "text": message["content"], "finish_reason": "stop", "logprobs": None}
            self._whole({**_head(body, "text_completion"), "choices": [choice], "usage": _USAGE})

    def _chat(self, body: dict[str, Any], message: dict[str, Any]) -> None:
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        if not body.get("stream"):
            choices = [
                {"index": number, "message": message, "finish_reason": reason} for number in range(body.get("n") or 1)
            ]
            self._whole({**_head(body, "chat.completion"), "choices": choices, "usage": _USAGE})
            return
        text = message["content"] or ""
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        thought = message.get("reasoning_content") or ""
        deltas += [{"reasoning_content": thought[at : at + _PIECE]} for at in range(0, len(thought), _PIECE)]
        deltas += [{"content": text[at : at + _PIECE]} for at in range(0, len(text), _PIECE)]
        for number, call in enumerate(message.get("tool_calls") or ()):
            whole = call["function"]["arguments"]
            deltas.append(
                {"tool_calls": [{"index": number, **call, "function": {**call["function"], "arguments": ""}}]}
            )
            deltas += [
                {"tool_calls": [{"index": number, "function": {"arguments": whole[at : at + _PIECE]}}]}
                for at in range(0, len(whole), _PIECE)
            ]
        head = _head(body, "chat.completion.chunk")
        chunks: list[Any] = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
        chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        if (body.get("stream_options") or {}).get("include_usage"):
            chunks.append({**head, "choices": [], "usage": _USAGE})
        self._events([(None, chunk) for chunk in chunks], done=True)

    def _responses(self, body: dict[str, Any], message: dict[str, Any]) -> None:
        output: list[dict[str, Any]] = [
            {
                "id": f"fc_{number}",
                "type": "function_call",
                "call_id": call["id"],
                "name": call["function"]["name"],
                "arguments": call["function"]["arguments"],
                "status": "completed",
            }
            for number, call in enumerate(message.get("tool_calls") or ())
        ]
        if message["content"] is not None:
            part = {"type": "output_text", "text": message["content"], "annotations": []}
            said = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
            output.append(said)
        response = {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": body["model"],
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": 11,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 16,
            },
        }
        if not body.get("stream"):
            self._whole(response)
            return
        text = message["content"] or ""
        where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        empty = {**output[0], "content": [], "status": "in_progress"}
        steps: list[dict[str, Any]] = [
            {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": empty},
            {
                "type": "response.content_part.added",
                **where,
                "part": {"type": "output_text", "text": "", "annotations": []},
            },
            *(
                {"type": "response.output_text.delta", **where, "delta": text[at : at + _PIECE], "logprobs": []}
                for at in range(0, len(text), _PIECE)
            ),
            {"type": "response.output_text.done", **where, "text": text, "logprobs": []},
            {"type": "response.output_item.done", "output_index": 0, "item": output[0]},
            {"type": "response.completed", "response": response},
        ]
        self._events([(step["type"], {**step, "sequence_number": number}) for number, step in enumerate(steps)])

    def _whole(self, document: Any, status: int = 200) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _events(self, events: list[tuple[str | None, Any]], *, done: bool = False) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {json.dumps(data)}\n\n".encode())
            self.wfile.flush()
        if done:
            self.wfile.write(b"data: [DONE]\n\n")


def _head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "call-1", "object": kind, "created": 1, "model": body["model"]}


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    given = body["input"]
    texts = [given] if isinstance(given, str) or (given and isinstance(given[0], int)) else given
    data = []
    for index, text in enumerate(texts):
        vector: Any = embedding(text if isinstance(text, str) else " ".join(map(str, text)))
        if body.get("encoding_format") == "base64":
            vector = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
        data.append({"object": "embedding", "index": index, "embedding": vector})
    return {"object": "list", "model": body["model"], "data": data, "usage": {"prompt_tokens": 3, "total_tokens": 3}}
