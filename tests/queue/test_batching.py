"""Projects are served in turn, and batches are small enough for the others to wait."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import pytest

from ingest.queue.admission import Sent, admit
from ingest.queue.batching import FairOrder
from ingest.queue.journal.queue import open_journal
from ingest.queue.packets import lane_of
from ingest.queue.protocol import MOST_EVENTS, MOST_REBUILT_BYTES, Delivery, EventQueue, Packet, Settlement
from tests.queue.conftest import Opener

SOON = 0.5
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def journal(tmp_path: Any) -> Any:
    """The queue of one server."""
    async with await open_journal(tmp_path / "journal", 1 << 40) as opened:
        yield opened


def _in_lane(project: str, lane: int, count: int = 1) -> list[str]:
    """Names of traces of a project that go through a lane."""
    names = (f"t{number}" for number in range(10**6))
    found = (name for name in names if lane_of(project, name) == lane)
    return [next(found) for _ in range(count)]


async def _batch(queue: EventQueue, packets: int = 16) -> list[str]:
    """Take and settle the next batch; returns its projects."""
    taken = await queue.take(0, packets, SOON)
    await queue.settle(0, Settlement(done=taken))
    return [one.packet.project_id for one in taken]


async def test_a_project_waits_for_one_batch_of_another_at_most(journal: EventQueue) -> None:
    """The other project has 100,000 waiting packets and sends more."""
    (trace,) = _in_lane("greedy", 0)
    await journal.put([Packet("greedy", trace, b"x", 1)] * 100_000)
    assert Counter(await _batch(journal)) == {"greedy": 16}
    for name in ("a", "modest", "z"):
        await journal.put([Packet("greedy", trace, b"x", 1)] * 100)
        await journal.put([Packet(name, _in_lane(name, 0)[0], b"x", 1)])
        assert name in await _batch(journal)


async def test_small_packets_do_not_wait_for_large_ones(opener: Opener) -> None:
    """A project whose packets take a second each leaves the others the same time, not the same number of packets."""
    queue = await opener()
    large = Packet("greedy", _in_lane("greedy", 0)[0], b"x", 4, 3 * MOST_REBUILT_BYTES)
    small = Packet("modest", _in_lane("modest", 0)[0], b"x", 1)
    await queue.put([large] * 2 + [small] * 10)
    batches = [Counter(await _batch(queue)), Counter(await _batch(queue))]
    # In any order of the projects, the first large packet ends a batch; all small packets come before the second.
    assert batches in (
        [Counter(greedy=1, modest=10), Counter(greedy=1)],
        [Counter(greedy=1), Counter(greedy=1, modest=10)],
    )


async def test_who_was_away_has_not_saved_up_turns(journal: EventQueue) -> None:
    """A project that returns gets no compensation for its pause: both projects share equally."""
    one, other = (Packet(name, _in_lane(name, 0)[0], b"x", MOST_EVENTS // 10) for name in ("one", "other"))
    await journal.put([one] * 100)
    for _ in range(5):
        assert Counter(await _batch(journal)) == {"one": 10}
    await journal.put([other] * 50)
    counts = Counter[str]()
    for _ in range(4):
        counts += Counter(await _batch(journal))
    assert abs(counts["one"] - counts["other"]) <= 2, counts


def test_a_project_that_returns_is_served_like_a_new_one() -> None:
    """Its clock stood still while the other project worked, and counts from now on."""

    def first(order: FairOrder, count: int, *projects: str) -> Counter[str]:
        waiting = {name: [Delivery(Packet(name, "t", b"x", 1), 1, NOW, key) for key in range(100)] for name in projects}
        return Counter(one.packet.project_id for one in islice(order.deliveries(waiting), count))

    order = FairOrder()
    assert first(order, 2, "a", "b") == {"a": 1, "b": 1}
    assert first(order, 50, "a") == {"a": 50}
    assert first(order, 10, "a", "b") == {"a": 5, "b": 5}
    assert first(order, 10, "new", "b") == {"new": 5, "b": 5}


async def test_projects_take_turns_packet_by_packet(journal: EventQueue) -> None:
    names = [f"p{number}" for number in range(40)]
    for name in names:
        await journal.put([Packet(name, _in_lane(name, 0)[0], b"x", 1)] * 3)
    served = [one for _ in range(8) for one in await _batch(journal)]
    assert len(served) == 120
    # No waiting project is passed over: each is served once before any is served again.
    assert set(served[:16]) | set(served[16:32]) | set(served[32:48]) == set(names)
    assert set(Counter(served).values()) == {3}


async def test_packets_of_a_project_stay_in_their_order(journal: EventQueue) -> None:
    one, other = _in_lane("p", 0, 2)
    await journal.put([Packet("p", (one, other)[number % 2], b"%d" % number, 1) for number in range(50)])
    await journal.put([Packet("q", _in_lane("q", 0)[0], b"q", 1)] * 10)
    bodies = []
    while taken := await journal.take(0, 7, 0.0):
        bodies += [found.packet.body for found in taken if found.packet.project_id == "p"]
        await journal.settle(0, Settlement(done=taken))
    assert bodies == [b"%d" % number for number in range(50)]


@pytest.mark.parametrize(("events", "rebuilt"), [(MOST_EVENTS, 0), (1, MOST_REBUILT_BYTES)])
async def test_a_batch_ends_where_it_has_enough(opener: Opener, events: int, rebuilt: int) -> None:
    queue = await opener()
    (trace,) = _in_lane("p", 0)
    await queue.put([Packet("p", trace, b"%d" % number, events, rebuilt) for number in range(4)])
    for number in range(4):
        (found,) = await queue.take(0, 16, 5)
        assert (found.packet.body, found.packet.rebuilt) == (b"%d" % number, rebuilt)
        await queue.settle(0, Settlement(done=[found]))
    assert await queue.take(0, 16, SOON) == []


async def test_a_packet_rebuilds_no_more_than_a_batch_may(journal: EventQueue) -> None:
    """A few bytes on the wire may stand for a long value: the size in the event counts."""
    size = MOST_REBUILT_BYTES // 3

    def grown(number: int) -> bytes:
        base = {"variable": "v", "kept": size, "size": size}
        said = {"name": "v", "kind": "Buffer", "version": 0, "value": "", "mediaType": "text/plain", "base": base}
        head = {"v": 1, "type": "variable", "trace": "t", "time": "2026-01-01T00:00:00.000000Z"}
        return json.dumps(head | said | {"variable": f"v{number}"}).encode()

    assert await admit(journal, "p", Sent([grown(number) for number in range(10)])) == []
    lane, counts = lane_of("p", "t"), []
    while taken := await journal.take(lane, 16, 0.0):
        counts.append(sum(one.packet.count for one in taken))
        assert sum(one.packet.rebuilt for one in taken) <= MOST_REBUILT_BYTES * 2
        await journal.settle(lane, Settlement(done=taken))
    assert sum(counts) == 10
    assert max(counts) <= 6
