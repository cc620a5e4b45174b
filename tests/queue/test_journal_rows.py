"""The file of the queue, piece by piece: due times, left-out packets, blocks of dead letters, room, and inspection."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from ingest.queue.journal import blocks
from ingest.queue.journal.damage import Damage
from ingest.queue.journal.queue import Journal, PutOff, open_journal
from ingest.queue.packets import lane_of
from ingest.queue.protocol import LANES, DeadLetter, Packet, QueueState, Settlement
from schema.errors import DamagedError, NotFoundError, QueueFullError, StoreError

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
LANE = lane_of("p", "t")


def _letter(event: bytes = b"e", project: str = "p", reason: str = "r", trace: str = "t", tries: int = 3) -> DeadLetter:
    return DeadLetter(None, project, trace, event, reason, tries, NOW, NOW + timedelta(seconds=1))


@pytest_asyncio.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    """An empty queue."""
    async with await open_journal(tmp_path / "journal", 1 << 20) as opened:
        yield opened


def test_keys_are_due_at_their_newest_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now, put_off = 10.0, PutOff()
    monkeypatch.setattr("ingest.queue.journal.queue.time.monotonic", lambda: now)
    assert (put_off.seconds_left(), put_off.due()) == (None, [])
    for key, seconds in ((1, 3.0), (2, 2.0), (3, 1.0), (4, 2.5)):
        put_off.add(key, seconds)
    put_off.add(3, 4.0)  # later than before
    put_off.add(1, 1.0)  # sooner than before
    put_off.drop(4)
    put_off.drop(99)
    assert put_off.seconds_left() == 1.0
    now = 10.75
    assert (put_off.seconds_left(), put_off.due()) == (0.25, [])
    now = 12.0
    assert (put_off.seconds_left(), put_off.due()) == (0.0, [1, 2])
    assert put_off.seconds_left() == 2.0
    now = 20.0
    assert (put_off.due(), put_off.seconds_left(), put_off.due()) == ([3], None, [])


def test_a_packet_is_left_out_once() -> None:
    damage = Damage()
    assert (damage.is_known, damage.count) == (False, 0)
    with capture_logs() as logs:
        damage.leave_out(7, "no page")
        damage.leave_out(7, "again")
    assert (damage.is_known, damage.count) == (True, 1)
    said = "the file of the queue is damaged: a packet is left out"
    assert logs == [{"event": said, "log_level": "error", "packet": 7, "problem": "no page"}]


async def test_a_packet_comes_back_as_it_was_put(journal: Journal) -> None:
    before = datetime.now(UTC)
    packets = [Packet("p", "t", b"one", 5, 77, True), Packet("p", "t", b"two", 1)]
    await journal.put(packets)
    state = await journal.state()
    assert state.oldest is not None
    assert before <= state.oldest <= datetime.now(UTC)
    assert state == QueueState(2, 6, state.oldest, 0, 0, 0)
    taken = await journal.take(LANE, 16, 0)
    assert [one.packet for one in taken] == packets
    assert [one.tries for one in taken] == [1, 1]
    assert taken[0].key != taken[1].key
    assert taken[0].sent_at == state.oldest
    await journal.settle(LANE, Settlement(done=taken[:1], found=[Packet("p", "t", b"found", 2, 3, True)]))
    state = await journal.state()
    assert (state.packets, state.bytes) == (2, 8)
    assert [(one.packet.body, one.tries) for one in await journal.take(LANE, 16, 0)] == [(b"two", 2), (b"found", 1)]


async def test_there_is_room_to_the_last_byte(tmp_path: Path) -> None:
    async with await open_journal(tmp_path / "journal", 10) as journal:
        await journal.put([Packet("p", "t", b"1234", 1), Packet("p", "u", b"567890", 1)])
        with pytest.raises(QueueFullError, match="the queue of events is full: send them again later"):
            await journal.put([Packet("p", "t", b"x", 1)])
        assert (await journal.state()).packets == 2
        taken = await journal.take(LANE, 16, 0)
        # Found packets have room always.
        await journal.settle(LANE, Settlement(done=taken, found=[Packet("p", "t", b"x" * 20, 1, 0, True)]))
        assert (await journal.state()).bytes == 26


async def test_a_packet_that_comes_later_is_recalled_by_the_next_holder(tmp_path: Path) -> None:
    async with await open_journal(tmp_path / "journal", 1 << 20) as journal:
        await journal.put([Packet("p", "t", b"one", 1)])
        taken = await journal.take(LANE, 16, 0)
        await journal.settle(LANE, Settlement(later=[(taken[0], 600.0)]))
        assert await journal.take(LANE, 16, 0) == []
        await journal.share("me")  # the lane is still this worker's
        assert await journal.take(LANE, 16, 0) == []
        await journal.share("me", give_back=range(LANES))
        assert [one.tries for one in await journal.take(LANE, 16, 0)] == [2]


async def test_a_packet_that_is_done_is_no_longer_due(journal: Journal) -> None:
    await journal.put([Packet("p", "t", b"one", 1), Packet("p", "t", b"two", 1)])
    one, two = await journal.take(LANE, 16, 0)
    await journal.settle(LANE, Settlement(later=[(one, 0.0), (two, 600.0)]))
    await journal.settle(LANE, Settlement(done=[two]))
    assert journal._lanes[LANE].put_off._moments.keys() == {one.key}
    assert [found.key for found in await journal.take(LANE, 16, 0)] == [one.key]


async def test_a_waiting_task_wakes_for_a_packet_of_its_lane(journal: Journal) -> None:
    began = time.monotonic()
    waiting = asyncio.create_task(journal.take(LANE, 16, 60))
    told: list[set[int]] = []
    await asyncio.sleep(0.01)
    await journal.put([Packet("p", "t", b"one", 1)])
    assert [one.packet.body for one in await waiting] == [b"one"]
    assert time.monotonic() - began < 30
    journal.on_arrival(lambda lanes: told.append(set(lanes)))
    await journal.put([Packet("p", "t", b"one", 1), Packet("p", "u", b"one", 1)])
    assert told == [{LANE, lane_of("p", "u")}]


@pytest.mark.parametrize(
    ("letters", "of_blocks"),
    [
        ([], []),
        ([_letter(b"a"), _letter(b"b")], [("p", 2)]),
        ([_letter(b"a"), _letter(b"a")], [("p", 1)]),  # repeated
        ([_letter(b"a"), _letter(b"b", "q"), _letter(b"c")], [("p", 2), ("q", 1)]),
        ([_letter(b"%d" % number) for number in range(1_000)], [("p", 1_000)]),
        ([_letter(b"%d" % number) for number in range(1_001)], [("p", 1_000), ("p", 1)]),
        ([_letter(b"x" * ((1 << 20) - 1)), _letter(b"b")], [("p", 1), ("p", 1)]),
        ([_letter(b"x" * ((1 << 20) - 2)), _letter(b"b")], [("p", 2)]),
        ([_letter(b"x", reason="y" * (1 << 20)), _letter(b"b")], [("p", 1), ("p", 1)]),
    ],
)
def test_a_block_of_dead_letters_ends_at_a_limit(letters: list[DeadLetter], of_blocks: list[tuple[str, int]]) -> None:
    made = blocks.blocks_of(letters)
    assert [(block.project_id, block.letters) for block in made] == of_blocks
    assert all(block.span == block.letters for block in made)


async def test_a_dead_letter_comes_back_with_all_its_fields(journal: Journal) -> None:
    sent = [_letter(b"\x00\xff", trace="a", reason="one", tries=7), _letter(b"", trace="", reason="two", tries=1)]
    await journal.settle(LANE, Settlement(dead=sent))
    fields = ("project_id", "trace", "event", "reason", "tries", "sent_at", "died_at")
    found = await journal.letters("p").page()
    assert [[getattr(one, name) for name in fields] for one in found] == [
        [getattr(one, name) for name in fields] for one in sent
    ]
    assert [one.id for one in found] == [1, 2]


async def test_pages_of_dead_letters_go_through_blocks(journal: Journal) -> None:
    mine = journal.letters("p")
    for number in range(4):
        await journal.settle(LANE, Settlement(dead=[_letter(b"%d%d" % (number, place)) for place in range(2)]))
        await journal.settle(LANE, Settlement(dead=[_letter(b"other", "q")] * number))
    numbers = [one.id for one in await mine.page()]
    assert numbers == [1, 2, 3, 4, 6, 7, 9, 10]
    for after, limit, found in ((0, 3, [1, 2, 3]), (1, 2, [2, 3]), (4, 2, [6, 7]), (5, 9, [6, 7, 9, 10]), (10, 5, [])):
        assert [one.id for one in await mine.page(after, limit)] == found
    for missing in (0, 5, 11):
        with pytest.raises(NotFoundError, match=f"dead letter '?{missing}"):
            await mine.get(missing)
    assert await mine.drop([6, 1, 5, 99, 6]) == 2
    assert [one.id for one in await mine.page()] == [2, 3, 4, 7, 9, 10]
    assert await mine.drop([2]) == 1
    assert (await mine.count(), await journal.letters("q").count(), (await journal.state()).dead) == (5, 3, 8)
    assert (await mine.drop_all(), await mine.count()) == (5, 0)
    assert await journal.letters("q").drop_all() == 3


async def test_the_bytes_of_dead_letters_are_counted_down_to_nothing(journal: Journal) -> None:
    """What is counted decides which letters have to go: an error would add up."""
    mine = journal.letters("p")
    for number in range(3):
        await journal.settle(LANE, Settlement(dead=[_letter(b"%d%d" % (number, place)) for place in range(3)]))

    def counted(connection: Any) -> tuple[Any, int]:
        held = connection.execute("SELECT coalesce(sum(length(body) + 200), 0) FROM dead_block").get
        return connection.execute("SELECT bytes FROM dead_amount WHERE project = 'p'").get, held

    for numbers in ([1], [2, 3], [4, 9], []):
        await mine.drop(numbers)
        bytes_, held = await journal._connections.read(counted)
        assert bytes_ == held > 0
    await mine.drop_all()
    assert await journal._connections.read(counted) == (0, 0)


async def test_the_oldest_letters_go_when_a_project_has_too_many(tmp_path: Path) -> None:
    (block,) = blocks.blocks_of([_letter(b"0")])
    each = len(block.body) + 200
    for most, kept, lost in ((3 * each, 3, 1), (3 * each - 1, 2, 2), (1, 1, 3)):
        async with await open_journal(tmp_path / f"{most}", 1 << 20, dead_bytes=most) as journal:
            await journal.settle(LANE, Settlement(dead=[_letter(b"x", "q")]))
            for number in range(4):
                await journal.settle(LANE, Settlement(dead=[_letter(b"%d" % number)]))
            mine = journal.letters("p")
            assert [one.event for one in await mine.page()] == [b"%d" % number for number in range(4 - kept, 4)]
            assert (await mine.count(), await mine.lost()) == (kept, lost)
            assert ((await journal.state()).dead, (await journal.state()).lost) == (kept + 1, lost)
            assert (await journal.letters("q").count(), await journal.letters("none").lost()) == (1, 0)


async def test_an_inspection_describes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "open" / "journal"
    path.parent.mkdir(0o755)
    async with await open_journal(path, 1 << 20) as journal:
        await journal.put([Packet("p", "t", b"one", 1)])
        await journal.settle(LANE, Settlement(dead=[_letter(b"a"), _letter(b"b")]))
        details = {"path": str(path), "packets": 1, "deadLetters": 2}
        assert await journal.inspect() == (details, [], [])
        path.chmod(0o644)
        _, problems, (warning,) = await journal.inspect()
        assert problems == []
        assert warning == f"{path} can be read by others of this machine (mode 644): chmod 600"


async def test_a_packet_of_another_lane_is_damage(journal: Journal) -> None:
    await journal.put([Packet("p", "t", b"one", 1), Packet("p", "t", b"two", 1)])
    await journal._connections.write(lambda connection: connection.execute("UPDATE packet SET trace = 'u' WHERE k = 1"))
    assert lane_of("p", "u") != LANE
    with capture_logs() as logs:
        taken = await journal.take(LANE, 16, 0)
    assert [one.packet.body for one in taken] == [b"two"]
    assert [(one["packet"], one["problem"]) for one in logs] == [(1, "it can't be read")]


async def test_what_a_damaged_file_cannot_change_is_left_out(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each packet is tried by itself, and only the damaged packet is left out."""
    await journal.put([Packet("p", "t", b"%d" % number, 1) for number in range(3)])
    taken = await journal.take(LANE, 16, 0)
    bad, write = taken[1].key, journal._connections.write

    async def failing(work: Any) -> Any:
        arguments = getattr(work, "args", None)
        if arguments is None:
            if work.__name__ == "work" and "_settle" not in work.__qualname__ and "settle" in work.__qualname__:
                raise DamagedError("whole")
            return await write(work)
        keys = [getattr(one, "key", one) for one in arguments[0]]
        if bad in keys:
            raise DamagedError(f"page of {bad}")
        return await write(work)

    monkeypatch.setattr(journal._connections, "write", failing)
    with capture_logs() as logs:
        await journal.settle(LANE, Settlement(done=taken[:2], later=[(taken[2], 0.0)], dead=[_letter()]))
    assert [(one["packet"], one["problem"]) for one in logs] == [(bad, f"page of {bad}")]
    assert await journal.letters("p").count() == 1
    assert [(one.key, one.tries) for one in await journal.take(LANE, 16, 0)] == [(taken[2].key, 2)]
    with capture_logs() as logs:
        await journal._each("packets.postpone", [taken[2].key, bad])
    assert logs == []  # it is left out already


async def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b"no database" * 1_000)
    with pytest.raises(StoreError, match="journal"):
        await open_journal(path, 1 << 20)
