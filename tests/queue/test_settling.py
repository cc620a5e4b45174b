"""What becomes of packets after a turn: done, later or dead; how long they wait, and what a turn takes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from structlog.testing import capture_logs

from ingest.queue import worker, writing
from ingest.queue.protocol import DeadLetter, Delivery, Packet, Settlement
from ingest.queue.tally import Tally
from ingest.queue.worker import EventWorker
from ingest.queue.write_packets import Early, Held, Waiting, WaitingBudget

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TRIES = 3
PART_EVENTS, PART_BYTES = writing.PART_EVENTS, writing.PART_BYTES


def _delivery(key: int = 1, tries: int = 1, **packet: Any) -> Delivery:
    fields: dict[str, Any] = {"body": b"", "count": 1} | packet
    return Delivery(Packet("p", "t", **fields), tries, NOW, key)


def _held(tries: int = 1, early: Sequence[int] = (), refused: int = 0, key: int = 1, **more: Any) -> Held:
    waits = {place: Early(b"early %d" % place, "waits", {"x"}, None) for place in early}
    packet = {name: more.pop(name) for name in ("is_found",) if name in more}
    bad = [(b"bad %d" % place, "no") for place in range(refused)]
    return Held(_delivery(key, tries, **packet), waits, bad, **more)


async def _settled(own: Sequence[Held], others: Sequence[Held] = ()) -> tuple[Settlement, Waiting]:
    waiting = Waiting(WaitingBudget())
    for held in own:
        for place, early in list(held.early.items()):
            waiting.add(held, place, early)
    batch = writing._Batch(TRIES, writing.Slots(1), waiting, None, False)  # type: ignore[arg-type]
    await writing._settle(own, others, batch)
    return batch.settlement, waiting


@pytest.mark.parametrize(
    ("held", "done", "wait", "dead"),
    [
        (_held(), True, None, []),
        (_held(refused=2), True, None, [(b"bad 0", "no"), (b"bad 1", "no")]),
        (_held(tries=1, early=[0]), False, (0.25, 0.5), []),
        (_held(tries=2, early=[0]), False, (0.5, 1.0), []),
        # The last try: what still waits is given up, in the order of the packet.
        (_held(tries=3, early=[2, 0]), True, None, [(b"early 0", "waits"), (b"early 2", "waits")]),
        (_held(tries=3, early=[1], refused=1), True, None, [(b"bad 0", "no"), (b"early 1", "waits")]),
        # What was put off for lack of time is no try, and waits a fixed time.
        (_held(tries=9, early=[0], is_put_off=True), False, (0.25, 0.25), []),
        (_held(tries=9, is_put_off=True), False, (0.25, 0.25), []),
        (_held(tries=1, early=[0], is_put_off=True, is_forgotten=True), False, (0.25, 0.5), []),
        (_held(tries=3, early=[0], is_put_off=True, is_forgotten=True), True, None, [(b"early 0", "waits")]),
        # What the platform found itself is written if possible, without tries and dead letters.
        (_held(early=[0], refused=1, is_found=True), True, None, []),
        (_held(early=[0], is_put_off=True, is_found=True), False, (0.25, 0.25), []),
    ],
)
async def test_a_packet_is_done_or_comes_later(
    held: Held, done: bool, wait: tuple[float, float] | None, dead: list[tuple[bytes, str]]
) -> None:
    began = datetime.now(UTC)
    settlement, waiting = await _settled([held])
    assert settlement.done == ([held.delivery] if done else [])
    if wait is None:
        assert settlement.later == []
        assert waiting.is_empty
    else:
        ((later, seconds),) = settlement.later
        assert later == held.delivery
        assert wait[0] <= seconds <= wait[1]
        assert waiting.is_empty == (not held.early or held.is_forgotten)
    assert [(one.event, one.reason) for one in settlement.dead] == dead
    for letter in settlement.dead:
        found = (letter.id, letter.project_id, letter.trace, letter.tries, letter.sent_at)
        assert found == (None, "p", "t", held.delivery.tries, NOW)
        assert began <= letter.died_at <= datetime.now(UTC)
    assert settlement.found == []


async def test_packets_that_were_woken_are_done_too() -> None:
    woken, own = _held(tries=2, refused=1, key=7), _held(key=8)
    settlement, _ = await _settled([own], [woken])
    assert [one.key for one in settlement.done] == [7, 8]
    assert [one.tries for one in settlement.dead] == [2]


async def test_edges_that_are_refused_are_logged_and_no_letters() -> None:
    with capture_logs() as logs:
        settlement, _ = await _settled([_held(early=[0], refused=2, is_found=True)])
    assert settlement.dead == []
    said = {"event": "edges between spans were not taken", "log_level": "info", "project": "p"}
    assert logs == [said | {"events": 3, "reason": "no"}]


async def test_many_dead_letters_are_made_like_few() -> None:
    settlement, _ = await _settled([_held(refused=writing._FEW_LETTERS + 1)])
    assert [one.event for one in settlement.dead] == [b"bad %d" % number for number in range(writing._FEW_LETTERS + 1)]


@pytest.mark.parametrize(
    ("tries", "longest"), [(1, 0.5), (2, 1.0), (3, 2.0), (10, 256.0), (11, 300.0), (30, 300.0), (5_000, 300.0)]
)
def test_each_try_waits_twice_as_long_up_to_a_limit(tries: int, longest: float) -> None:
    found = [writing.wait_seconds(tries) for _ in range(50)]
    assert longest / 2 <= min(found) < max(found) <= longest
    assert all(worker._pause(tries) <= min(longest, 10.0) for _ in range(50))
    assert worker._pause(tries) >= min(longest / 2, 10.0)


@pytest.mark.parametrize(
    ("packets", "first"),
    [
        ([_delivery(count=PART_EVENTS)], 1),
        ([_delivery(count=2 * PART_EVENTS)], 1),
        ([_delivery(count=PART_EVENTS // 2)] * 3, 2),
        ([_delivery(count=PART_EVENTS // 2 + 1)] * 3, 1),
        ([_delivery(rebuilt=PART_BYTES // 2)] * 3, 2),
        ([_delivery(rebuilt=PART_BYTES // 2 + 1)] * 3, 1),
        ([_delivery(body=b"x" * (PART_BYTES // 2))] * 3, 2),
        ([_delivery(body=b"x" * (PART_BYTES // 2 + 1))] * 3, 1),
        ([_delivery(body=b"x" * (PART_BYTES // 4), rebuilt=PART_BYTES // 4)] * 3, 2),
        ([_delivery()] * 3, 3),
    ],
)
def test_a_turn_writes_a_part_of_limited_size(packets: list[Delivery], first: int) -> None:
    assert writing._first_part(packets) == packets[:first]


@pytest.mark.parametrize(
    ("packets", "next_"),
    [
        ([_delivery(count=4_000)], 16),
        ([_delivery(count=250)], 16),
        ([_delivery(count=200)] * 16, 20),
        ([_delivery(count=50)], 80),
        ([_delivery(count=1)] * 16, 128),
        ([_delivery(count=0)], 128),
        ([_delivery(count=999), _delivery(count=1)], 16),
        ([_delivery(count=99), _delivery(count=1)], 80),
    ],
)
def test_small_packets_are_taken_in_larger_numbers(packets: list[Delivery], next_: int) -> None:
    assert worker._packets_for(packets) == next_


def _counted(settlement: Settlement) -> tuple[Tally, list[Any]]:
    made = EventWorker(None, None, TRIES, 1)  # type: ignore[arg-type]
    with capture_logs() as logs:
        made._count(settlement)
        made._count(Settlement())
    return made.tally, logs


def test_results_are_counted_and_what_is_given_up_is_logged() -> None:
    letters = [DeadLetter(None, "p", f"t{number}", b"", f"r{number}", 1, NOW, NOW) for number in range(21)]
    done = [_delivery(count=30), _delivery(count=5)]
    tally, logs = _counted(Settlement(done, [(_delivery(), 1.0)], letters))
    assert tally == Tally(written=14, dead=21, postponed=1, batches=2, store_failures=0)
    given_up = {"event": "event given up", "log_level": "warning", "project": "p"}
    assert logs[:20] == [given_up | {"trace": f"t{number}", "reason": f"r{number}"} for number in range(20)]
    said = "more events given up: they are among the dead letters"
    assert logs[20:] == [{"event": said, "log_level": "warning", "events": 1}]
    assert len(_counted(Settlement(done, [], letters[:20]))[1]) == 20
