"""Events that refer to elements which have not come yet: the worker remembers them within a bound of memory."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ingest.queue.protocol import Delivery, Packet
from ingest.queue.write_packets import MOST_BYTES, Early, Held, Waiting, WaitingBudget

ENTRY = 600


def _held(key: int) -> Held:
    return Held(Delivery(Packet("p", "t", b"", 1), 1, datetime(2026, 1, 1, tzinfo=UTC), key))


def _early(*missing: str, makes: str | None = None, line: bytes = b"line") -> Early:
    return Early(line, "reason", set(missing), makes)


def test_an_event_wakes_when_all_that_it_waits_for_is_there() -> None:
    waiting, held = Waiting(WaitingBudget()), _held(1)
    waiting.add(held, 0, _early("a", "b"))
    assert waiting.arrived(["a"]) == []
    assert waiting.arrived(["a", "c"]) == []
    assert not waiting.is_empty
    ((found, place, early),) = waiting.arrived(["b"])
    assert (found, place, early.line, early.missing) == (held, 0, b"line", set())
    assert held.early == {}
    assert waiting.is_empty
    assert waiting.arrived(["a", "b"]) == []


def test_an_event_that_wakes_wakes_those_that_wait_for_what_it_makes() -> None:
    waiting, one, other = Waiting(WaitingBudget()), _held(1), _held(2)
    waiting.add(one, 0, _early("a", makes="b"))
    waiting.add(one, 1, _early("elsewhere"))
    waiting.add(other, 5, _early("b", makes="c"))
    waiting.add(other, 6, _early("c"))
    assert [(held.delivery.key, place) for held, place, _ in waiting.arrived(["a"])] == [(1, 0), (2, 5), (2, 6)]
    assert (list(one.early), list(other.early)) == ([1], [])
    assert waiting.take(1) is one
    assert waiting.take(1) is None
    assert waiting.take(2) is None


def test_events_that_wait_for_one_element_wake_in_their_order() -> None:
    waiting, first, second = Waiting(WaitingBudget()), _held(1), _held(2)
    for held, place in ((second, 0), (first, 3), (first, 1)):
        waiting.add(held, place, _early("a"))
    assert [(held.delivery.key, place) for held, place, _ in waiting.arrived(["a"])] == [(1, 1), (1, 3), (2, 0)]


def test_memory_is_given_back_with_each_event() -> None:
    budget = WaitingBudget(10_000)
    one, other = Waiting(budget), Waiting(budget)
    held, more = _held(1), _held(1)
    one.add(held, 0, _early("a", line=b"x" * 100))
    assert budget.left == 10_000 - 100 - len("reason") - ENTRY
    other.add(more, 0, _early("a", line=b"x" * 94))
    one.add(held, 1, _early("b", "c", line=b"x" * 94))
    assert budget.left == 10_000 - 3 * (100 + ENTRY) - 6
    one.arrived(["a"])
    assert budget.left == 10_000 - 2 * (100 + ENTRY)
    one.forget(held)
    one.forget(held)  # a packet that is not remembered gives nothing back
    assert budget.left == 10_000 - (100 + ENTRY)
    other.close()
    assert (budget.left, other.is_empty) == (10_000, True)
    assert WaitingBudget().left == MOST_BYTES == 64 << 20


def test_a_packet_without_room_is_forgotten_as_a_whole() -> None:
    budget = WaitingBudget(2 * ENTRY + 20)
    waiting, kept, large = Waiting(budget), _held(1), _held(2)
    waiting.add(kept, 0, _early("a", line=b"1234"))
    waiting.add(large, 0, _early("a", line=b"1234"))
    assert (budget.left, large.is_forgotten) == (0, False)  # to the last byte
    waiting.add(large, 1, _early("b", line=b""))
    assert (large.is_forgotten, kept.is_forgotten) == (True, False)
    assert budget.left == ENTRY + 10
    waiting.add(large, 2, _early("a"))
    assert sorted(large.early) == [0, 1, 2]  # the settlement needs to know that events are left
    assert budget.left == ENTRY + 10
    assert waiting.take(2) is None
    assert [held.delivery.key for held, _, _ in waiting.arrived(["a", "b"])] == [1]


@pytest.mark.parametrize("missing", [(), ("a",)])
def test_a_packet_that_is_handed_out_again_is_no_longer_waited_for(missing: tuple[str, ...]) -> None:
    budget = WaitingBudget(10_000)
    waiting, held = Waiting(budget), _held(1)
    waiting.add(held, 0, _early(*missing))
    assert waiting.take(2) is None
    assert waiting.take(1) is held
    assert (list(held.early), budget.left, waiting.is_empty) == ([0], 10_000, True)
    assert waiting.arrived(["a"]) == []
