"""Bounds on connections: in all, below the process's limit of open files, and from each address.

At the bound, the connection that has waited longest without a request is closed to make room; at the bound of an
address, the longest waiting connection of this address. Silent clients therefore keep nobody out. If all connections
are at work, the new connection is closed at once. All this works everywhere but on Windows, where ``asyncio`` accepts
connections in another way.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import time
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import structlog

_TURN = 64
"""The most connections that may be opening or closing at a time; more wait in the system's queue."""

_SHORT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_REST_SECONDS = 0.5
"""Shorter than the second after which ``asyncio`` tries again when the system had no free file."""

_LOG_SECONDS = 5.0
_FILES_KEPT = 256
"""Open files for other uses: the store, the queue, uploads, answers on the disk, other servers."""

_log = structlog.get_logger("memtrace.http")


class Connection(Protocol):
    """A connection that is being served."""

    def overdue(self, now: float) -> str | None:
        """Why the connection has to be closed, if its client takes too long; ``now`` is the loop's time."""
        ...

    def abort(self) -> None:
        """End it now."""
        ...


class Waiting:
    """Connections without a request under way, in the order in which they began to wait."""

    def __init__(self) -> None:
        self._silent: dict[Slot, None] = {}
        self._idle: dict[Slot, None] = {}

    def add(self, slot: Slot) -> None:
        """Add a connection that begins to wait for its first request, or for another."""
        (self._idle if slot.has_asked else self._silent)[slot] = None

    def discard(self, slot: Slot) -> None:
        """Remove a connection that does not wait any more."""
        self._silent.pop(slot, None)
        self._idle.pop(slot, None)

    def first(self) -> Slot | None:
        """The connection to close next. Connections that never sent a request go first."""
        return next(iter(self._silent or self._idle), None)


@dataclass(eq=False, slots=True)
class Slot:
    """The place of one connection.

    Attributes:
        connection: the served connection; None before.
        has_asked: whether the whole head of a request has arrived.
        is_closing: whether the connection was told to end.
    """

    address: str
    connection: Connection | None = None
    has_asked: bool = False
    is_closing: bool = False


@dataclass(slots=True)
class _Address:
    open: int = 0
    waiting: Waiting = field(default_factory=Waiting)


class Gate:
    """Counts connections, and decides which may come in."""

    def __init__(self, most: int, most_per_address: int, exempt: Sequence[str] = ()) -> None:
        """Make one.

        Args:
            most: connections in all.
            most_per_address: connections of an address.
            exempt: addresses and networks (of load balancers) without a bound per address; ``most`` still holds.
        """
        self.most = most
        self._most_per_address = most_per_address
        self._exempt = [ipaddress.ip_network(one, strict=False) for one in exempt if _is_network(one)]
        self._slots: dict[Any, Slot] = {}
        self._addresses: dict[str, _Address] = {}
        self._waiting = Waiting()
        self._unsettled = 0
        self._closed: Counter[str] = Counter()
        self._last_line = -_LOG_SECONDS

    @property
    def is_settled(self) -> bool:
        """Whether more may be accepted before the loop has dealt with those that are opening or closing."""
        return self._unsettled < _TURN

    def admit(self, peer: Any) -> Callable[[], None] | None:
        """Give a new connection a place: returns what to call when it is closed, or None if there is no place."""
        address = str(peer[0])
        one = self._addresses.get(address) or _Address()
        if one.open >= self._most_per_address and not self._is_exempt(address):
            has_room = self._make_room(one.waiting)
        else:
            has_room = len(self._slots) < self.most or self._make_room(self._waiting)
        if not has_room:
            self._closed["refused"] += 1
            return None
        slot = Slot(address)
        self._addresses[address] = one
        self._slots[peer] = slot
        one.open += 1
        self._unsettled += 1

        def release() -> None:
            self._release(peer, slot)

        return release

    def opened(self, peer: Any, connection: Connection) -> Slot:
        """A connection is served from now on, and waits for its first request."""
        slot = self._slots.get(peer)
        if slot is None:
            return Slot(str(peer[0]) if peer else "", connection)  # accepted by other means: not counted
        slot.connection = connection
        self._unsettled -= 1
        self.waits(slot)
        return slot

    def waits(self, slot: Slot) -> None:
        """A connection has no request under way."""
        if slot.address in self._addresses and not slot.is_closing:
            self._waiting.add(slot)
            self._addresses[slot.address].waiting.add(slot)

    def works(self, slot: Slot) -> None:
        """The head of a request has come."""
        slot.has_asked = True
        self._forget(slot)

    def sweep(self, now: float) -> None:
        """Close connections whose clients take too long. Call this about every second; ``now`` is the loop's time."""
        for slot in list(self._slots.values()):
            if slot.connection is not None and not slot.is_closing:
                reason = slot.connection.overdue(now)
                if reason is not None:
                    self._close(slot, reason)
        self._tell()

    def lack(self, problem: str) -> None:
        """Note that the system could give no file for a connection."""
        self._closed[problem] += 1
        self._tell()

    def _make_room(self, waiting: Waiting) -> bool:
        slot = waiting.first()
        if slot is None:
            return False
        self._close(slot, "made room")
        return True

    def _close(self, slot: Slot, reason: str) -> None:
        assert slot.connection is not None
        self._closed[reason] += 1
        self._forget(slot)
        slot.is_closing = True
        self._unsettled += 1
        slot.connection.abort()

    def _forget(self, slot: Slot) -> None:
        self._waiting.discard(slot)
        if (one := self._addresses.get(slot.address)) is not None:
            one.waiting.discard(slot)

    def _release(self, peer: Any, slot: Slot) -> None:
        self._forget(slot)
        if slot.is_closing or slot.connection is None:
            self._unsettled -= 1
        slot.is_closing = True
        if self._slots.get(peer) is slot:
            del self._slots[peer]
        one = self._addresses[slot.address]
        one.open -= 1
        if one.open == 0:
            del self._addresses[slot.address]

    def _is_exempt(self, address: str) -> bool:
        if not self._exempt:
            return False
        found = ipaddress.ip_address(address.partition("%")[0])
        return any(found in network for network in self._exempt)

    def _tell(self) -> None:
        """Log one line for all connections that were closed since the last line."""
        now = time.monotonic()
        if self._closed and now - self._last_line >= _LOG_SECONDS:
            self._last_line = now
            _log.warning("connections were closed early", open=len(self._slots), reasons=dict(self._closed))
            self._closed.clear()


class Listener(socket.socket):
    """A listening socket with a gate."""

    def __init__(self, bound: socket.socket, gate: Gate) -> None:
        """Take the place of a socket that listens."""
        super().__init__(bound.family, bound.type, bound.proto, bound.detach())
        self._gate = gate
        self._rests_until = 0.0

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection that the gate admits; other connections are closed.

        Raises:
            BlockingIOError: no connection waits, or the loop should handle other events first.
            OSError: the system has no free file; ``asyncio`` then tries again after a second.
        """
        if time.monotonic() < self._rests_until:
            raise BlockingIOError
        for _ in range(_TURN):
            if not self._gate.is_settled:
                break
            try:
                connection, peer = super().accept()
            except OSError as error:
                if error.errno in _SHORT:
                    self._gate.lack("no file left")
                    self._rests_until = time.monotonic() + _REST_SECONDS
                raise
            release = self._gate.admit(peer)
            if release is not None:
                return _Accepted(connection, release), peer
            connection.close()
        raise BlockingIOError


class _Accepted(socket.socket):
    """A connection's socket, which frees its slot when it is closed."""

    def __init__(self, connection: socket.socket, release: Callable[[], None]) -> None:
        super().__init__(connection.family, connection.type, connection.proto, connection.detach())
        self._release = weakref.finalize(self, release)
        self._release.atexit = False

    def close(self) -> None:
        super().close()
        self._release()


def most_connections(wanted: int) -> int:
    """The most connections of a process: the wanted number, or fewer if the limit of open files is lower."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return wanted
    return max(1, min(wanted, files - min(_FILES_KEPT, files // 2)))


def _is_network(text: str) -> bool:
    """Whether a text is an address or a network. A proxy on a local socket has another name."""
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True
