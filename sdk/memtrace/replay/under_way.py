"""Requests to models whose replies are under way, so that a client that gave up and asks again gets the same reply."""

from __future__ import annotations

import select
import socket
import threading

from memtrace.replay.replies import Reply


class Call:
    """A live request.

    Attributes:
        client: the connection of the client that waits for the reply; None if the client has given up.
        reply: the reply; None until it is complete, and if it could not be had.
        done: set when the reply is complete, or could not be had.
    """

    def __init__(self, client: socket.socket) -> None:
        self.client: socket.socket | None = client
        self.reply: Reply | None = None
        self.done = threading.Event()


class CallsUnderWay:
    """The live requests, and complete replies that no client has waited for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[str, list[Call]] = {}

    def begin(self, asked: str, client: socket.socket) -> tuple[Call, bool]:
        """A call for a request, and whether it is new: a call that its client has left goes to an equal request.

        Args:
            asked: the hash of the request.
            client: the connection of the client that asks.
        """
        with self._lock:
            calls = self._calls.setdefault(asked, [])
            for call in calls:
                if call.client is None or is_gone(call.client):
                    call.client = client
                    return call, False
            calls.append(Call(client))
            return calls[-1], True

    def end(self, asked: str, call: Call, reply: Reply | None) -> None:
        """Note the complete reply of a call, or that it can't be had."""
        call.reply = reply
        if reply is None:
            self._remove(asked, call)
        call.done.set()

    def given(self, asked: str, call: Call, client: socket.socket, *, whole: bool) -> None:
        """Note whether a client got the whole reply; otherwise the next equal request gets it."""
        with self._lock:
            if call.client is not client:
                return  # another client waits for it
            call.client = None
        if whole:
            self._remove(asked, call)

    def _remove(self, asked: str, call: Call) -> None:
        with self._lock:
            calls = self._calls.get(asked, [])
            if call in calls:
                calls.remove(call)
            if not calls:
                self._calls.pop(asked, None)


def is_gone(client: socket.socket) -> bool:
    """Whether the other end of a connection has closed it."""
    try:
        readable, _, _ = select.select([client], [], [], 0)
        return bool(readable) and not client.recv(1, socket.MSG_PEEK)
    except (OSError, ValueError):  # closed here
        return True
