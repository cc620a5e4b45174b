"""The gate bounds connections in all and for each address, and closes a waiting connection to make room."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from api.http import sockets
from api.http.sockets import Gate, Listener, Slot, Waiting, most_connections


class Client:
    """A connection of a client, which is overdue for a reason, and ends when it is told to."""

    def __init__(self, gate: Gate, address: str, port: int) -> None:
        self.peer = (address, port)
        self.reason: str | None = None
        self.aborted = 0
        self.release: Callable[[], None] | None = gate.admit(self.peer)
        self.slot: Slot | None = None

    def serve(self, gate: Gate) -> Client:
        """The server has begun to read."""
        self.slot = gate.opened(self.peer, self)
        return self

    def overdue(self, now: float) -> str | None:
        """Why it has to be closed."""
        return self.reason

    def abort(self) -> None:
        """It is told to end."""
        self.aborted += 1


def _clients(gate: Gate, *addresses: str) -> list[Client]:
    return [Client(gate, address, port).serve(gate) for port, address in enumerate(addresses)]


def _is_in(client: Client) -> bool:
    return client.release is not None


def test_at_the_bound_the_one_that_waits_longest_makes_room() -> None:
    gate = Gate(2, 10)
    one, two = _clients(gate, "a", "b")
    three = Client(gate, "c", 3)
    assert (_is_in(three), one.aborted, two.aborted) == (True, 1, 0)
    four = Client(gate, "d", 4)
    assert (_is_in(four), two.aborted, one.aborted) == (True, 1, 1)
    assert not _is_in(Client(gate, "e", 5))  # the new connections are not served yet, so no connection waits


def test_a_connection_that_never_asked_goes_first() -> None:
    gate = Gate(3, 10)
    asked, silent, later = _clients(gate, "a", "b", "c")
    for client in (asked, later):
        assert client.slot is not None
        gate.works(client.slot)
        gate.waits(client.slot)
    assert _is_in(Client(gate, "d", 4))
    assert (asked.aborted, silent.aborted, later.aborted) == (0, 1, 0)
    assert _is_in(Client(gate, "e", 5))
    assert (asked.aborted, later.aborted) == (1, 0)


def test_who_is_at_work_is_not_closed() -> None:
    gate = Gate(1, 10)
    (busy,) = _clients(gate, "a")
    assert busy.slot is not None
    gate.works(busy.slot)
    refused = Client(gate, "b", 2)
    assert (_is_in(refused), busy.aborted) == (False, 0)
    gate.waits(busy.slot)
    assert _is_in(Client(gate, "b", 3))
    assert busy.aborted == 1


def test_at_the_bound_of_an_address_its_own_connection_makes_room() -> None:
    gate = Gate(10, 2)
    other, one, two = _clients(gate, "b", "a", "a")
    assert _is_in(Client(gate, "a", 7))
    assert (other.aborted, one.aborted, two.aborted) == (0, 1, 0)
    assert two.slot is not None
    gate.works(two.slot)
    assert not _is_in(Client(gate, "a", 8))
    assert _is_in(Client(gate, "b", 9))


@pytest.mark.parametrize(
    ("exempt", "address", "is_in"),
    [
        ([], "10.0.0.7", False),
        (["10.0.0.7"], "10.0.0.7", True),
        (["10.0.0.0/8"], "10.200.0.7", True),
        (["10.0.0.5/24"], "10.0.0.7", True),  # an address with a mask names its network
        (["10.0.0.8"], "10.0.0.7", False),
        (["unix:/run/proxy", "10.0.0.7"], "10.0.0.7", True),
        (["fe80::/10"], "fe80::1%eth0", True),
        (["fe80::/10"], "10.0.0.7", False),
    ],
)
def test_a_balancer_has_no_bound_of_its_own(exempt: list[str], address: str, is_in: bool) -> None:
    gate = Gate(10, 1, exempt)
    (one,) = _clients(gate, address)
    assert one.slot is not None
    gate.works(one.slot)
    assert _is_in(Client(gate, address, 2)) is is_in


def test_a_place_is_free_when_its_connection_is_closed() -> None:
    gate = Gate(1, 1)
    (one,) = _clients(gate, "a")
    assert one.slot is not None
    assert one.release is not None
    gate.works(one.slot)
    one.release()
    assert (gate._slots, gate._addresses, gate._unsettled) == ({}, {}, 0)
    gate.waits(one.slot)  # too late: it takes no place any more
    assert gate._waiting.first() is None
    (two,) = _clients(gate, "a")
    three = Client(gate, "a", 9)
    assert (_is_in(three), two.aborted) == (True, 1)
    assert two.release is not None
    two.release()
    assert len(gate._slots) == 1


def test_those_that_open_or_close_are_counted() -> None:
    gate = Gate(1_000, 1_000)
    opening = [Client(gate, "a", port) for port in range(64)]
    assert not gate.is_settled
    opening[0].serve(gate)
    assert gate.is_settled
    before = opening[1].release
    assert before is not None
    before()  # closed before it was served
    assert gate._unsettled == 62
    opening[0].reason = "idle"
    gate.sweep(0.0)
    gate.sweep(0.0)
    assert (opening[0].aborted, gate._unsettled) == (1, 63)  # told to end once
    assert opening[0].release is not None
    opening[0].release()
    assert gate._unsettled == 62


def test_a_connection_that_came_by_other_means_is_not_counted() -> None:
    gate = Gate(1, 1)
    (one,) = _clients(gate, "a")
    for peer, address in ((("b", 2), "b"), (None, "")):
        slot = gate.opened(peer, one)
        assert (slot.address, slot.connection) == (address, one)
        gate.waits(slot)
        gate.works(slot)
    assert gate._waiting.first() is one.slot
    assert gate._unsettled == 0


def test_closed_connections_are_told_in_one_line_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("api.http.sockets.time.monotonic", lambda: now)
    gate = Gate(3, 10)
    one, two, three = _clients(gate, "a", "b", "c")
    one.reason = two.reason = "idle"
    assert three.slot is not None
    gate.works(three.slot)
    with capture_logs() as logs:
        assert not _is_in(Client(gate, "d", 4)) or one.aborted
        gate.sweep(0.0)
        now += 4.9
        gate.lack("no file left")
        assert len(logs) == 1
        now += 0.1
        gate.sweep(0.0)
        now += 9.0
        gate.sweep(0.0)
    said = {"event": "connections were closed early", "log_level": "warning"}
    assert logs == [
        said | {"open": 4, "reasons": {"made room": 1, "idle": 1}},
        said | {"open": 4, "reasons": {"no file left": 1}},
    ]


def test_the_order_of_waiting() -> None:
    waiting, asked, silent, more = Waiting(), Slot("a", has_asked=True), Slot("b"), Slot("c")
    assert waiting.first() is None
    for slot in (asked, silent, more):
        waiting.add(slot)
    assert waiting.first() is silent
    waiting.discard(silent)
    waiting.discard(silent)
    assert waiting.first() is more
    waiting.discard(more)
    assert waiting.first() is asked


@pytest.mark.parametrize(
    ("files", "wanted", "most"),
    [
        (-1, 10_000, 10_000),  # no limit
        (1_024, 10_000, 768),
        (1_024, 700, 700),
        (512, 10_000, 256),
        (300, 10_000, 150),
        (1, 10_000, 1),
    ],
)
def test_files_are_left_for_other_uses(files: int, wanted: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (files, files))
    assert most_connections(wanted) == most


class _Bare(Listener):
    """A listener without a socket, which is told what the system would give."""

    def __init__(self, gate: Gate) -> None:
        socket.socket.__init__(self)
        self._gate = gate
        self._rests_until = 0.0


def test_a_listener_rests_while_the_system_has_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    came: list[Any] = []
    monkeypatch.setattr("api.http.sockets.time.monotonic", lambda: now)

    def accept(_: Any) -> Any:
        found = came.pop(0)
        if isinstance(found, OSError):
            raise found
        return found

    monkeypatch.setattr(socket.socket, "accept", accept)
    gate = Gate(1, 1)
    with _Bare(gate) as listener, capture_logs() as logs:
        came += [OSError(errno.EMFILE, "none"), OSError(errno.EINVAL, "other")]
        with pytest.raises(OSError, match="none"):
            listener.accept()
        with pytest.raises(BlockingIOError):
            listener.accept()
        assert len(came) == 1  # the system was not asked
        now += 0.5
        with pytest.raises(OSError, match="other"):
            listener.accept()
        first, second = socket.socket(), socket.socket()
        came += [(first, ("a", 1)), (second, ("a", 2)), BlockingIOError()]
        accepted, peer = listener.accept()
        assert peer == ("a", 1)
        with pytest.raises(BlockingIOError):
            listener.accept()
        assert second.fileno() == -1  # without a place it is closed
        accepted.close()
        assert gate._slots == {}
        gate._unsettled = 64
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert logs[0]["reasons"] == {"no file left": 1}
    assert {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM} == sockets._SHORT
