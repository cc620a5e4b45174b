"""A server on this machine between a program and its models: it keeps replies, and repeats them in a replay.

Headers, such as the API key, are passed on and never kept.
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
from memtrace.replay.under_way import CallsUnderWay, is_gone

if TYPE_CHECKING:
    import ssl

    import httpx

_DROPPED = {
    "host", "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailers",
    "transfer-encoding", "upgrade", "content-length", "accept-encoding", "content-encoding",
}  # fmt: skip
"""Headers that are not passed on: they belong to one connection, or to the encoding of the body, which changes."""
_TRY_AGAIN = {408, 409, 425, 429}
_ANSWER_SECONDS, _CONNECT_SECONDS = 600.0, 30.0
MAX_REPLY_BYTES = 64_000_000
"""Largest reply of a model's server; the connection to the program ends there."""


class _TooLongError(Exception):
    """A reply is longer than ``MAX_REPLY_BYTES``."""


class _LeftError(Exception):
    """The client closed its connection while a reply was passed on."""


class Proxy:
    """The server, from ``start`` to ``close``.

    Args:
        replies: the kept replies.
        budget: the limits of live calls; None means no limit.
        seconds: how long a model's server may be silent.

    Attributes:
        problems: reasons why requests were refused.
        given: calls and tokens of all replies, kept or live.
    """

    def __init__(self, replies: Replies, budget: Budget | None = None, seconds: float = _ANSWER_SECONDS) -> None:
        self.replies = replies
        self.problems: list[str] = []
        self.given = Budget()
        self._budget = budget or Budget()
        self._seconds = seconds
        self._under_way = CallsUnderWay()
        self._lock = threading.Lock()
        self._upstreams: list[str] = []
        self._server: ThreadingHTTPServer | None = None
        self._client: httpx.Client | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def start(self) -> None:
        """Listen on a free port, for programs on this machine only."""
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
        """The proxy's address for a model server's base URL. The first call starts the proxy."""
        upstream = upstream.rstrip("/")
        with self._lock:
            if self._server is None:
                self.start()
            assert self._server is not None
            if upstream not in self._upstreams:
                self._upstreams.append(upstream)
            return f"http://127.0.0.1:{self._server.server_port}/{self._upstreams.index(upstream)}"

    def spent(self) -> Spent:
        """The calls, tokens and cost of live calls so far."""
        return self._budget.spent()

    def target(self, path: str) -> str | None:
        """The model server's address for a path of the proxy; None for an unknown path."""
        number, _, rest = path.removeprefix("/").partition("/")
        if not number.isdecimal() or int(number) >= len(self._upstreams):
            return None
        return f"{self._upstreams[int(number)]}/{rest}"

    def asked(self, method: str, url: str, headers: Mapping[str, str], body: bytes, to: _Answer) -> None:
        """Answer a request with a kept reply, or else with the model server's reply.

        A client that gave up and asks again gets the reply that is under way for it, so that none is paid twice.
        """
        while True:
            name = self.replies.name(method, url, body)
            kept = self.replies.find(name)
            if kept is not None:
                self._count(kept)
                to.whole(kept)
                return
            asked, _, _ = name.rpartition(".")
            call, is_new = self._under_way.begin(asked, to.client)
            if is_new:
                break
            self.replies.give_back(name)
            call.done.wait()
            if call.reply is not None:
                to.whole(call.reply)
                self._under_way.given(asked, call, to.client, whole=not to.is_left)
                return
        reply = None
        try:
            reply = self._asked_live(name, method, url, headers, body, to)
        finally:
            self._under_way.end(asked, call, reply)
            if reply is None:
                self.replies.give_back(name)
        # The program can't send its next request before this reply is counted and kept.
        if reply is not None:
            to.end()
            self._under_way.given(asked, call, to.client, whole=not to.is_left)

    def _asked_live(
        self, name: str, method: str, url: str, headers: Mapping[str, str], body: bytes, to: _Answer
    ) -> Reply | None:
        """The model server's reply, passed on and kept; None if it is not kept."""
        problem = self._refusal()
        if problem is not None:
            self._refuse(problem, to)
            return None
        import httpx

        passed = {key: value for key, value in headers.items() if key.lower() not in _DROPPED}
        try:
            with self._live().stream(method, url, headers=passed, content=body) as response:
                media_type = response.headers.get("content-type", "application/octet-stream")
                to.begin(response.status_code, media_type, response.headers.get("retry-after"))
                chunks = []
                left = MAX_REPLY_BYTES
                for chunk in response.iter_bytes():
                    left -= len(chunk)
                    if left < 0:
                        raise _TooLongError
                    chunks.append(chunk)
                    to.chunk(chunk)
                status = response.status_code
        except _TooLongError:
            self._note(f"a model's reply is longer than {MAX_REPLY_BYTES:,} bytes")
            to.abort()
            return None
        except _LeftError:
            return None  # a stream that its client does not want to read on
        except httpx.HTTPError as error:
            if to.has_begun:
                to.abort()
            elif isinstance(error, httpx.ReadTimeout):
                self._refuse(f"the model's server did not reply within {self._seconds:,g} seconds", to)
            else:
                self._refuse(f"the model's server can't be reached: {type(error).__name__}", to)
            return None
        reply = Reply(status, media_type, b"".join(chunks))
        self._budget.used(self._count(reply))
        if status >= 500 or status in _TRY_AGAIN:
            to.end()
            return None
        self._keep(name, reply)
        return reply

    def _live(self) -> httpx.Client:
        """The client of live calls, made on first use: most replays make no live call."""
        import httpx

        with self._lock:
            if self._client is None:
                timeout = httpx.Timeout(self._seconds, connect=_CONNECT_SECONDS)
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
        """Count a live call, and return None; or return the reason why no live call may be made."""
        if not self.replies.may_ask:
            return "a model was asked for what was not kept of the recording"
        return self._budget.take()

    def _note(self, problem: str) -> None:
        with self._lock:
            if problem not in self.problems:
                self.problems.append(problem)

    def _refuse(self, problem: str, to: _Answer) -> None:
        self._note(problem)
        to.whole(Reply(400, "application/json", to_json({"error": {"message": f"memtrace replay: {problem}"}})))


@cache
def _authorities() -> ssl.SSLContext:
    """The trusted certificate authorities, read once in a process, because reading takes 50 ms."""
    import httpx

    return httpx.create_ssl_context()


def _usage(body: bytes) -> dict[str, int]:
    """The numbers of input and output tokens in a reply, by the field names of common servers."""
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
    """The way back to a client. Nothing is written to a client that has left before the reply begins."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self._handler = handler
        self.client = handler.connection
        self.has_begun = False
        self.is_left = False

    def whole(self, reply: Reply) -> None:
        self.has_begun = True
        handler = self._handler
        try:
            handler.send_response(reply.status)
            handler.send_header("Content-Type", reply.media_type)
            handler.send_header("Content-Length", str(len(reply.body)))
            handler.end_headers()
            handler.wfile.write(reply.body)
        except OSError:
            self._leave()

    def begin(self, status: int, media_type: str, retry_after: str | None) -> None:
        self.has_begun = True
        if is_gone(self.client):
            self._leave()
            return
        handler = self._handler
        handler.send_response(status)
        handler.send_header("Content-Type", media_type)
        if retry_after:
            handler.send_header("Retry-After", retry_after)
        handler.send_header("Transfer-Encoding", "chunked")
        try:
            handler.end_headers()
        except OSError:
            self._leave()

    def chunk(self, data: bytes) -> None:
        """Pass a part on.

        Raises:
            _LeftError: the client has left since the reply began.
        """
        if data and not self.is_left:
            try:
                self._handler.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
                self._handler.wfile.flush()
            except OSError:
                self._leave()
                raise _LeftError from None

    def abort(self) -> None:
        """Close the connection, because the model server's reply broke off."""
        self._handler.close_connection = True

    def end(self) -> None:
        if not self.is_left:
            try:
                self._handler.wfile.write(b"0\r\n\r\n")
            except OSError:
                self._leave()

    def _leave(self) -> None:
        self.is_left = True
        self._handler.close_connection = True


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # head and body are written apart: the second would wait for 40 ms

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name of the base class)
            """Log nothing: requests contain texts of users."""

        def answer(self) -> None:
            """Pass a request on, or answer it with a kept reply."""
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
