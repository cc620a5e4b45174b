"""The contract of queues: nothing is lost, no packet is handed out twice at a time, and lanes are shared out."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from uuid import uuid4

import apsw
import pytest

from ingest.queue.journal.queue import open_journal
from ingest.queue.nats.queue import NatsQueue
from ingest.queue.packets import lane_of
from ingest.queue.protocol import LANES, DeadLetter, EventQueue, Packet, QueueState, Settlement
from ingest.queue.shares import worker_name
from schema.errors import NotFoundError, QueueFullError
from schema.migrations import migrations
from tests.queue.conftest import Opener

SOON = 0.5


def _packet(trace: str = "t", body: bytes = b"body", project: str = "p") -> Packet:
    return Packet(project, trace, body, 1)


def _letter(event: bytes, project: str = "p") -> DeadLetter:
    now = datetime.now(UTC)
    return DeadLetter(None, project, "t", event, "no reason", 3, now, now)


async def _state_of(queue: EventQueue, packets: int) -> QueueState:
    """The state once ``packets`` packets wait: a NATS server removes settled packets with a delay."""
    for _ in range(500):
        state = await queue.state()
        if state.packets == packets:
            break
        await asyncio.sleep(0.01)
    return state


async def test_packets_come_in_their_order_and_are_gone_when_they_are_settled(queue: EventQueue) -> None:
    lane = lane_of("p", "t")
    await queue.put([_packet(body=b"%d" % number) for number in range(5)])
    first = await queue.take(lane, 3, SOON)
    assert [one.packet.body for one in first] == [b"0", b"1", b"2"]
    assert {one.tries for one in first} == {1}
    await queue.settle(lane, Settlement(done=first))
    second = await queue.take(lane, 3, SOON)
    assert [one.packet.body for one in second] == [b"3", b"4"]
    assert (await _state_of(queue, 2)).packets == 2
    await queue.settle(lane, Settlement(done=second))
    assert await queue.take(lane, 3, SOON) == []
    state = await _state_of(queue, 0)
    assert (state.packets, state.bytes, state.oldest) == (0, 0, None)


async def test_lanes_are_apart(queue: EventQueue) -> None:
    traces = [uuid4().hex for _ in range(40)]
    await queue.put([_packet(trace) for trace in traces])
    found = {lane: {one.packet.trace for one in await queue.take(lane, 100, SOON)} for lane in range(LANES)}
    assert {lane: {trace for trace in traces if lane_of("p", trace) == lane} for lane in range(LANES)} == found


async def test_what_is_to_come_later_comes_later_with_more_tries(queue: EventQueue) -> None:
    lane = lane_of("p", "t")
    await queue.put([_packet(body=b"early"), _packet(body=b"good")])
    early, good = await queue.take(lane, 2, SOON)
    await queue.settle(lane, Settlement(done=[good], later=[(early, 1.0)]))
    (again,) = await queue.take(lane, 2, 5)
    assert (again.packet.body, again.tries) == (b"early", 2)
    assert again.sent_at == early.sent_at
    await queue.settle(lane, Settlement(done=[again]))


async def test_what_may_not_have_arrived_is_said_again(queue: EventQueue) -> None:
    """A worker settles twice if its connection broke before the confirmation."""
    lane = lane_of("p", "t")
    await queue.put([_packet(body=b"early"), _packet(body=b"good")])
    early, good = await queue.take(lane, 2, SOON)
    for _ in range(2):
        await queue.settle(lane, Settlement(done=[good], later=[(early, 0.5)]))
    (again,) = await queue.take(lane, 2, 5)
    assert (again.packet.body, again.tries) == (b"early", 2)
    for _ in range(2):
        await queue.settle(lane, Settlement(done=[again]))
    assert (await _state_of(queue, 0)).packets == 0


async def test_what_was_given_up_comes_again_before_the_next(queue: EventQueue) -> None:
    """A worker takes again without settling if it may have lost the lane."""
    lane = lane_of("p", "t")
    await queue.put([_packet(body=body) for body in (b"first", b"second", b"third")])
    assert [one.packet.body for one in await queue.take(lane, 2, SOON)] == [b"first", b"second"]
    found: list[bytes] = []
    async with asyncio.timeout(300):
        while len(found) < 3:
            taken = await queue.take(lane, 3, SOON)
            found += [one.packet.body for one in taken]
            if taken:
                await queue.settle(lane, Settlement(done=taken))
    assert found == [b"first", b"second", b"third"]


async def test_a_queue_tells_how_it_stands(queue: EventQueue) -> None:
    before = datetime.now(UTC)
    await queue.put([_packet(body=b"x" * 1000)])
    state = await queue.state()
    assert (state.packets, state.dead, state.workers) == (1, 0, 0)
    assert state.bytes >= 1000
    assert state.oldest is not None
    assert abs((state.oldest - before).total_seconds()) < 60


async def test_a_full_queue_says_so_and_takes_again_when_there_is_room(opener: Opener) -> None:
    queue = await opener(max_bytes=1 << 20)
    kept = 0
    while await _has_room(queue):
        kept += 1
    assert 0 < kept < 100
    lane = lane_of("p", "t")
    taken = await queue.take(lane, 100, SOON)
    assert len(taken) == kept
    await queue.settle(lane, Settlement(done=taken))
    await _state_of(queue, 0)
    await queue.put([_packet()])


async def _has_room(queue: EventQueue) -> bool:
    try:
        await queue.put([_packet(body=uuid4().bytes * 4096)])
    except QueueFullError:
        return False
    return True


async def test_dead_letters_are_those_of_one_project(queue: EventQueue) -> None:
    odd = "a project.with *odd> characters"
    one, taken_again = _letter(b"1"), _letter(b"1")
    settlement = Settlement(dead=[one, _letter(b"2", odd), _letter(b"3"), one])
    await queue.settle(0, settlement)
    mine, others = queue.letters("p"), queue.letters(odd)
    found = await mine.page()
    assert [one.event for one in found] == [b"1", b"3"]  # the same letter is kept once
    first = found[0]
    assert first.id is not None
    assert replace(first, id=None) == replace(settlement.dead[0], sent_at=first.sent_at, died_at=first.died_at)
    assert [one.event for one in await mine.page(first.id, 5)] == [b"3"]
    assert [one.event for one in await mine.page(0, 1)] == [b"1"]
    assert await mine.get(first.id) == first
    for stranger in (others, queue.letters("nobody")):
        with pytest.raises(NotFoundError):
            await stranger.get(first.id)
        assert await stranger.drop([first.id]) == 0
    assert (await mine.count(), await others.count(), await queue.letters("nobody").count()) == (2, 1, 0)
    assert (await queue.state()).dead == 3
    assert await mine.drop([first.id]) == 1
    assert await mine.drop([first.id]) == 0
    assert (await mine.count(), await others.count()) == (1, 1)
    with pytest.raises(NotFoundError):
        await mine.get(first.id)
    await queue.settle(0, Settlement(dead=[taken_again]))
    assert [one.event for one in await mine.page()] == [b"3", b"1"]
    assert (await mine.drop_all(), await mine.drop_all()) == (2, 0)
    assert (await mine.count(), await others.count(), await mine.lost()) == (0, 1, 0)


async def test_workers_share_the_lanes(opener: Opener) -> None:
    one, other = await opener(), await opener()
    names = ("elsewhere/1/a", "elsewhere/2/b")
    assert (await one.share(names[0])).held == frozenset(range(LANES))
    assert (await other.share(names[1])).held == frozenset()
    first = await one.share(names[0])
    assert len(first.surplus) == LANES // 2
    assert first.held == frozenset(range(LANES))  # surplus lanes too, until the work on them is over
    first = await one.share(names[0], first.surplus)
    second = await other.share(names[1])
    assert len(first.held) == len(second.held) == LANES // 2
    assert not first.held & second.held
    assert (await one.state()).workers == 2
    await one.leave(names[0])
    assert (await other.share(names[1])).held == frozenset(range(LANES))


async def test_lanes_of_a_process_that_has_ended_are_free_at_once(opener: Opener) -> None:
    queue = await opener()
    host, _, _ = worker_name().split("/")
    ended, elsewhere = f"{host}/4194304/x", "elsewhere/4194304/x"  # larger than any process id
    assert len((await queue.share(ended)).held) == LANES
    assert (await queue.share(worker_name())).held == frozenset(range(LANES))
    await queue.share(elsewhere)
    assert (await queue.state()).workers == 2  # a worker on another machine may be alive


async def test_dead_letters_of_a_project_are_bounded_and_the_oldest_go(tmp_path: Path) -> None:
    rng = Random(5)
    async with await open_journal(tmp_path / "journal", 1 << 30, dead_bytes=1 << 17) as queue:
        await queue.settle(0, Settlement(dead=[_letter(b"theirs", "other")]))
        for number in range(20):
            await queue.settle(0, Settlement(dead=[_letter(b"%d " % number + rng.randbytes(20_000))]))
        mine = queue.letters("p")
        kept = [int(one.event.split()[0]) for one in await mine.page()]
        assert kept == list(range(14, 20))
        assert (await mine.count(), await mine.lost()) == (6, 14)
        state = await queue.state()
        assert (state.dead, state.lost) == (7, 14)
        await queue.settle(0, Settlement(dead=[_letter(rng.randbytes(200_000))]))
        assert await mine.count() == 1  # the newest one stays, however large it is
        assert await queue.letters("other").count() == 1


async def test_many_dead_letters_need_little_room_and_none_when_they_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    async with await open_journal(path, 1 << 30) as queue:
        for _ in range(3):
            await queue.settle(0, Settlement(dead=[_letter(b"%d" % one + b"x" * 1_000) for one in range(5_000)]))
        mine = queue.letters("p")
        assert await mine.count() == 15_000
        found = await mine.page(0, 20_000)
        assert [one.id for one in found] == list(range(1, 15_001))
        assert (await mine.get(7_001)).event == b"2000" + b"x" * 1_000
        assert [one.id for one in await mine.page(7_000, 2)] == [7_001, 7_002]
        assert await mine.drop([1, 2, 7_001, 99_999]) == 3
        assert [one.id for one in await mine.page(0, 1)] == [3]
        assert await mine.count() == 14_997
        assert path.stat().st_size + path.with_name("journal-wal").stat().st_size < 2 << 20  # 15 MB of events
        assert await mine.drop_all() == 14_997
        assert path.stat().st_size < 200_000
        await queue.settle(0, Settlement(dead=[_letter(b"next")]))
        assert [one.id for one in await mine.page()] == [15_001]


async def test_dead_letters_of_the_layout_before_are_moved_and_the_file_shrinks(tmp_path: Path) -> None:
    path, now = tmp_path / "journal", time.time_ns() // 1000
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("journal_mode", "wal")
        migrations_ = [one for one in migrations("journal") if one.number == 2]
        connection.execute("CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT, applied_at TEXT)")
        for statement in migrations_[0].statements:
            connection.execute(statement)
        connection.execute("INSERT INTO migration VALUES (2, 'layout', '2026-01-01T00:00:00Z')")
        rows = [
            (b"%d" % one, "pq"[one % 2], "t", b"%d " % one + b"y" * 2_000, "no", 3, now, now) for one in range(2_000)
        ]
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO dead_letter (digest, project, trace, event, reason, tries, sent_at, died_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        connection.execute("COMMIT")
    async with await open_journal(path, 1 << 30) as queue:
        mine = queue.letters("q")
        assert [one.id for one in await mine.page(0, 5_000)] == list(range(2, 2_001, 2))
        assert (await mine.get(1_000)).event.startswith(b"999 ")
        await queue.settle(0, Settlement(dead=[_letter(b"new", "q")]))
        assert (await mine.page(2_000))[0].id == 2_001
        assert await queue.letters("p").drop_all() == 1_000
        assert path.stat().st_size < 200_000


async def test_dead_letters_that_nats_has_no_room_for_cost_the_project_with_the_most(opener: Opener) -> None:
    queue = await opener(max_bytes=1 << 20)
    if not isinstance(queue, NatsQueue):
        return  # the journal has a limit for each project
    random = Random(3)
    await queue.settle(0, Settlement(dead=[_letter(b"theirs", "other")]))
    for _ in range(12):
        await queue.settle(0, Settlement(dead=[_letter(random.randbytes(30_000))]))
    mine = queue.letters("p")
    kept, lost = await mine.count(), await mine.lost()
    assert (kept + lost, lost > 0, kept > 0) == (12, True, True)
    assert (await queue.letters("other").count(), await queue.letters("other").lost()) == (1, 0)
    assert (await queue.state()).lost == lost
    assert await mine.drop_all() == kept
