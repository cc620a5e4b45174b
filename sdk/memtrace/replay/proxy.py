"""A server on this machine between a program and its models: it keeps replies, and gives them again in a replay.

It passes headers on (a key among them) and keeps none of them.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

from pydantic_core import from_json, to_json

from memtrace.faults import report
from memtrace.replay.budget import Budget, Spent
from memtrace.replay.replies import Replies, Reply

if TYPE_CHECKING:
    import ssl

    import httpx

_DROPPED = {
    "host", "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailers",
    "transfer-encoding", "upgrade", "content-length", "accept-encoding", "content-encoding",
}  # fmt: skip
"""Headers that are about one connection, or about the form of a body that is passed on in another."""
_TRY_AGAIN = {408, 409, 425, 429}
_ANSWER_SECONDS, _CONNECT_SECONDS = 600.0, 30.0


class Proxy:
    """The server, from ``start`` to ``close``.

    Args:
        replies: what was kept.
        budget: what live calls may cost; None means no limit.

    Attributes:
        problems: why requests were refused.
        given: what the replies that were given used, kept ones too, as if all had been live.
    """

    def __init__(self, replies: Replies, budget: Budget | None = None) -> None:
        self.replies = replies
        self.problems: list[str] = []
        self.given = Budget()
        self._budget = budget or Budget()
        self._lock = threading.Lock()
        self._upstreams: list[str] = []
        self._server: ThreadingHTTPServer | None = None
        self._client: httpx.Client | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def start(self) -> None:
        """Listen on a free port of this machine, for this machine only."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="memtrace-replay-proxy", daemon=True
        ).start()

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        if self._client is not None:
            self._client.close()

    def url_of(self, upstream: str) -> str:
        """The address that stands for a server's base URL; the server starts with the first one."""
        upstream = upstream.rstrip("/")
        with self._lock:
            if self._server is None:
                self.start()
            assert self._server is not None
            if upstream not in self._upstreams:
                self._upstreams.append(upstream)
            return f"http://127.0.0.1:{self._server.server_port}/{self._upstreams.index(upstream)}"

    def spent(self) -> Spent:
        """What was paid so far."""
        return self._budget.spent()

    def target(self, path: str) -> str | None:
        """The address that a path of this server stands for."""
        number, _, rest = path.removeprefix("/").partition("/")
        if not number.isdecimal() or int(number) >= len(self._upstreams):
            return None
        return f"{self._upstreams[int(number)]}/{rest}"

    def asked(self, method: str, url: str, headers: Mapping[str, str], body: bytes, to: _Answer) -> None:
        """Answer a request: with what was kept, or with what the server says."""
        name = self.replies.name(method, url, body)
        kept = self.replies.find(name)
        if kept is not None:
            self._count(kept)
            to.whole(kept)
            return
        problem = self._refusal()
        if problem is not None:
            self._refuse(problem, to)
            return
        import httpx

        passed = {key: value for key, value in headers.items() if key.lower() not in _DROPPED}
        try:
            with self._live().stream(method, url, headers=passed, content=body) as response:
                media_type = response.headers.get("content-type", "application/octet-stream")
                to.begin(response.status_code, media_type, response.headers.get("retry-after"))
                chunks = []
                for chunk in response.iter_bytes():
                    chunks.append(chunk)
                    to.chunk(chunk)
                status = response.status_code
        except httpx.HTTPError as error:
            self.replies.give_back(name)
            if to.has_begun:
                to.abort()
            else:
                self._refuse(f"the model's server can't be reached: {type(error).__name__}", to)
            return
        reply = Reply(status, media_type, b"".join(chunks))
        self._budget.used(self._count(reply))
        if status < 500 and status not in _TRY_AGAIN:
            self._keep(name, reply)
        else:
            self.replies.give_back(name)
        # What it cost is counted, and the reply is kept, before the program can ask for the next one.
        to.end()

    def _live(self) -> httpx.Client:
        """The client of live calls: most replays make none, and begin faster without it."""
        import httpx

        with self._lock:
            if self._client is None:
                timeout = httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
                self._client = httpx.Client(verify=_authorities(), timeout=timeout, follow_redirects=False)
            return self._client

    def _count(self, reply: Reply) -> dict[str, int]:
        used = _usage(reply.body)
        self.given.take()
        self.given.used(used)
        return used

    def _keep(self, name: str, reply: Reply) -> None:
        try:
            if not self.replies.keep(name, reply):
                report("replies of models", OSError("there is no room left for the replies of this trace"))
        except OSError as error:
            report("replies of models", error)

    def _refusal(self) -> str | None:
        """Why no live call may be made; None where one may, which is counted."""
        if not self.replies.may_ask:
            return "a model was asked for what was not kept of the recording"
        return self._budget.take()

    def _refuse(self, problem: str, to: _Answer) -> None:
        with self._lock:
            if problem not in self.problems:
                self.problems.append(problem)
        to.whole(Reply(400, "application/json", to_json({"error": {"message": f"memtrace replay: {problem}"}})))


@cache
def _authorities() -> ssl.SSLContext:
    """The certificate authorities that live calls trust, read once for all replays of a process: it takes 50 ms."""
    import httpx

    return httpx.create_ssl_context()


def _usage(body: bytes) -> dict[str, int]:
    """Tokens that a reply says it used, under the names of the common dialects."""
    try:
        said: Any = from_json(body).get("usage") or {}
    except (ValueError, AttributeError):
        return {}
    found = {}
    for side, names in (
        ("input", ("prompt_tokens", "input_tokens")),
        ("output", ("completion_tokens", "output_tokens")),
    ):
        found[side] = next((int(said[name]) for name in names if isinstance(said.get(name), int)), 0)
    return found


class _Answer:
    """Writes an answer to a connection."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self._handler = handler
        self.has_begun = False

    def whole(self, reply: Reply) -> None:
        self.has_begun = True
        handler = self._handler
        handler.send_response(reply.status)
        handler.send_header("Content-Type", reply.media_type)
        handler.send_header("Content-Length", str(len(reply.body)))
        handler.end_headers()
        handler.wfile.write(reply.body)

    def begin(self, status: int, media_type: str, retry_after: str | None) -> None:
        self.has_begun = True
        handler = self._handler
        handler.send_response(status)
        handler.send_header("Content-Type", media_type)
        if retry_after:
            handler.send_header("Retry-After", retry_after)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()

    def chunk(self, data: bytes) -> None:
        if data:
            self._handler.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self._handler.wfile.flush()

    def abort(self) -> None:
        """The server has ended in the middle, and so does this one."""
        self._handler.close_connection = True

    def end(self) -> None:
        self._handler.wfile.write(b"0\r\n\r\n")


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # head and body are written apart: the second would wait for 40 ms

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name of the base class)
            """Requests hold what users said: they are not logged."""

        def answer(self) -> None:
            """Pass a request on, or answer it with what was kept."""
            to = _Answer(self)
            if "Transfer-Encoding" in self.headers:
                self.close_connection = True
                to.whole(Reply(411, "application/json", b'{"error": {"message": "send a Content-Length"}}'))
                return
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            url = proxy.target(self.path)
            if url is None:
                to.whole(Reply(404, "application/json", b'{"error": {"message": "no such model server"}}'))
                return
            proxy.asked(self.command, url, dict(self.headers.items()), body, to)

        do_GET = do_POST = answer  # noqa: N815 (names of the base class)

    return Handler
