"""Requests whose replies are under way: who gets a reply when clients give up, ask again, or get a part of it."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from memtrace.replay.replies import Reply
from memtrace.replay.under_way import CallsUnderWay, is_gone

REPLY = Reply(200, "application/json", b"{}")


@pytest.fixture
def pairs() -> Iterator[list[tuple[socket.socket, socket.socket]]]:
    """Three connections: the proxy's end, and the client's end."""
    made = [socket.socketpair() for _ in range(3)]
    yield made
    for pair in made:
        for one in pair:
            one.close()


Pairs = list[tuple[socket.socket, socket.socket]]


def test_whether_a_client_is_gone(pairs: Pairs) -> None:
    (here, there), (other, _), _ = pairs
    assert not is_gone(here)
    there.send(b"more")
    assert not is_gone(here)
    assert here.recv(10) == b"more"  # looking took nothing away
    there.close()
    assert is_gone(here)
    other.close()
    assert is_gone(other)


def test_equal_requests_of_waiting_clients_are_calls_of_their_own(pairs: Pairs) -> None:
    calls = CallsUnderWay()
    (one, _), (other, _), _ = pairs
    first, is_new = calls.begin("asked", one)
    second, is_new_too = calls.begin("asked", other)
    third, _ = calls.begin("asked otherwise", one)
    assert is_new
    assert is_new_too
    assert len({id(call) for call in (first, second, third)}) == 3


def test_a_call_that_its_client_has_left_goes_to_an_equal_request(pairs: Pairs) -> None:
    calls = CallsUnderWay()
    (one, left), (other, _), _ = pairs
    first, _ = calls.begin("asked", one)
    left.close()
    assert calls.begin("asked otherwise", other)[1]
    assert calls.begin("asked", other) == (first, False)
    assert first.client is other
    calls.given("asked", first, one, whole=True)  # the client that left gets nothing any more
    assert first.client is other
    assert calls.begin("asked", one)[1]


@pytest.mark.parametrize("whole", [True, False])
def test_a_reply_that_a_client_did_not_get_whole_goes_to_the_next(pairs: Pairs, whole: bool) -> None:
    calls = CallsUnderWay()
    (one, _), (other, _), _ = pairs
    first, _ = calls.begin("asked", one)
    assert not first.done.is_set()
    calls.end("asked", first, REPLY)
    assert (first.done.is_set(), first.reply) == (True, REPLY)
    calls.given("asked", first, one, whole=whole)
    second, is_new = calls.begin("asked", other)
    assert (is_new, second is first) == (whole, not whole)


def test_a_reply_that_can_not_be_had_is_asked_for_again(pairs: Pairs) -> None:
    calls = CallsUnderWay()
    (one, left), (other, _), (third, _) = pairs
    first, _ = calls.begin("asked", one)
    second, _ = calls.begin("asked", other)
    calls.end("asked", first, None)
    assert (first.done.is_set(), first.reply) == (True, None)
    left.close()
    again, is_new = calls.begin("asked", third)
    assert is_new
    assert again not in (first, second)
    calls.end("asked", first, None)  # a second end changes nothing
    calls.end("asked", second, None)
    calls.end("asked", again, None)
    assert calls._calls == {}
