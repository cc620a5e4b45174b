"""A port that forwards to another and can be closed, like a server that goes away and comes back."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class Forwarder:
    """Forwards a port of this machine to a server.

    Attributes:
        port: always the same, also when it was closed and opened again.
    """

    def __init__(self, uri: str) -> None:
        self.lead_to(uri)
        self._streams: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self.port = 0
        self.open()

    def lead_to(self, uri: str) -> None:
        """Forward new connections to this server."""
        parts = urlsplit(uri)
        self._target = (parts.hostname or "127.0.0.1", parts.port or 7687)

    def open(self) -> None:
        """Take connections."""
        self._listening = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listening.getsockname()[1]
        self._start(self._accept, self._listening)

    def close(self) -> None:
        """Accept no more connections, and close those that are open."""
        self._end(self._listening)
        for stream in list(self._streams):
            self._end(stream)
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                near, _ = listening.accept()
            except OSError:
                return
            far = socket.create_connection(self._target)
            self._streams |= {near, far}
            self._start(self._pump, near, far)
            self._start(self._pump, far, near)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while block := source.recv(65_536):
                target.sendall(block)
        for stream in (source, target):
            self._end(stream)

    def _start(self, work: object, *arguments: socket.socket) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    @staticmethod
    def _end(stream: socket.socket) -> None:
        with contextlib.suppress(OSError):
            stream.shutdown(socket.SHUT_RDWR)
        stream.close()
