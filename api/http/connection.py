"""A connection of a client, with bounds on how long the server waits for the client.

uvicorn waits for ever for the rest of a request's head, for its body, and for a client that reads no answer; and it
accepts a head of any size. Here each wait has a bound, and so has the head. For websockets only reading by the client
has a bound; uvicorn pings them.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.http.sockets import Gate, Slot

HEAD_BYTES = 64 << 10
"""Bytes of a request's head, and of the data between the chunks of a body: extensions and trailers."""

LEAST_BODY_BYTES = 1024
"""Bytes of a body that must arrive within ``Patience.body``, while the server reads."""

_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: 32\r\nconnection: close\r\n\r\nthe request's head is too large\n"
)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a server waits, in seconds.

    Attributes:
        head: for the whole head of a request, from the connection or from the head's first byte.
        idle: until the next request.
        body: for the next ``LEAST_BODY_BYTES`` of a request's body; after the answer, for the whole rest.
        write: until the client reads some part of an answer.
    """

    head: float
    idle: float
    body: float
    write: float


class PatientConnection(HttpToolsProtocol):
    """uvicorn's protocol, which also notices a client that takes too long. See ``connections_of``."""

    gate: ClassVar[Gate]
    patience: ClassVar[Patience]

    _slot: Slot

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """A client has connected."""
        super().connection_made(transport)
        now = self.loop.time()
        self._head_since: float | None = now
        self._idle_since: float | None = None
        self._body_since: float | None = None
        self._body_bytes = 0
        self._is_answered = False
        self._is_sending = False
        self._unread = 0
        self._write_since: float | None = None
        self._write_left = 0
        self._slot = self.gate.opened(transport.get_extra_info("peername"), self)

    def data_received(self, data: bytes) -> None:
        """Some bytes have come."""
        if self._idle_since is not None:
            # Empty lines are no request, and yet they keep uvicorn from closing an idle connection.
            self._idle_since, self._head_since = None, self.loop.time()
        self._unread += len(data)
        super().data_received(data)
        if self._unread > HEAD_BYTES and not self.transport.is_closing():
            if self.cycle is None or self.cycle.response_complete:
                self.transport.write(_TOO_LARGE)
                self.transport.close()
            else:
                self.transport.abort()

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        if self._head_since is None:
            self._head_since = self.loop.time()

    def on_headers_complete(self) -> None:
        """A request's head is whole."""
        self._head_since, self._idle_since = None, None
        self._body_since, self._body_bytes = self.loop.time(), 0
        self._is_answered, self._is_sending = False, False
        self._unread = 0
        self.gate.works(self._slot)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of a request's body."""
        self._unread = 0
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request has come whole."""
        self._unread = 0
        self._body_since = None
        super().on_message_complete()
        if self._is_answered:
            self._wait()

    def on_response_complete(self) -> None:
        """An answer was handed to the system."""
        is_last = not self.pipeline
        super().on_response_complete()
        if is_last:
            self._is_answered = True
            if self._body_since is None:
                self._wait()
            else:
                self._body_since = self.loop.time()

    def resume_writing(self) -> None:
        """The client has read most of the buffered answer."""
        self._write_since = None
        super().resume_writing()

    def overdue(self, now: float) -> str | None:
        """See ``Connection`` of ``api.http.sockets``."""
        if self.flow.read_paused:
            # While the server does not read, a delay is not the client's fault.
            self._head_since = now if self._head_since is not None else None
            self._body_since = now if self._body_since is not None else None
        if self._head_since is not None and now - self._head_since > self.patience.head:
            return "no request"
        if self._idle_since is not None and now - self._idle_since > self.patience.idle:
            return "idle"
        if self._body_since is not None and now - self._body_since > self.patience.body:
            if self._is_answered or self._body_bytes < LEAST_BODY_BYTES:
                return "slow body"
            self._body_since, self._body_bytes = now, 0
        return self._overdue_write(now)

    def abort(self) -> None:
        """See ``Connection`` of ``api.http.sockets``."""
        self.transport.abort()

    def _wait(self) -> None:
        # A waiting connection may be closed to make room, so a connection counts as waiting only after its answer was
        # sent.
        self._is_sending = self.transport.get_write_buffer_size() > 0
        if not self._is_sending:
            self._idle_since = self.loop.time()
            self.gate.waits(self._slot)

    def _overdue_write(self, now: float) -> str | None:
        left = self.transport.get_write_buffer_size()
        if left == 0 and self._is_sending:
            self._wait()
        if left == 0 or left < self._write_left:
            self._write_since = None
        self._write_left = left
        if left and self._write_since is None:
            self._write_since = now
        if self._write_since is not None and now - self._write_since > self.patience.write:
            return "not read"
        return None


def connections_of(gate: Gate, patience: Patience) -> type[PatientConnection]:
    """The class of connections that uvicorn is to make for a server."""
    return type("ServerConnection", (PatientConnection,), {"gate": gate, "patience": patience})
