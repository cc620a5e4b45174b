"""A worker whose queue or store fails repeats its work, or leaves its lanes to others, and logs the reason."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from ingest.queue import worker as module
from ingest.queue.journal.queue import open_journal
from ingest.queue.packets import lane_of
from ingest.queue.protocol import LANES, EventQueue, Settlement
from ingest.queue.worker import EventWorker
from schema.errors import QueueFullError, StoreError
from store.contract.protocol import Database
from store.open import open_database
from tests.queue.test_worker import PROJECT, TRIES, _event, _message, _names, _send

LANE = lane_of(PROJECT, "t")


class _Failing:
    """A queue or database whose methods fail some times: ``failures`` gives the errors of each method, in order."""

    def __init__(self, inner: Any, **failures: list[Exception]) -> None:
        self.inner = inner
        self.failures = failures
        self.calls: list[str] = []
        self.is_away = False

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if name not in self.failures:
            return found

        async def call(*arguments: Any) -> Any:
            self.calls.append(name)
            if self.failures[name]:
                raise self.failures[name].pop(0)
            return await found(*arguments)

        return call


@pytest_asyncio.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Any]:
    """The queue of one server."""
    async with await open_journal(tmp_path / "journal", 1 << 30) as opened:
        yield opened


@pytest_asyncio.fixture
async def place(tmp_path: Path) -> AsyncIterator[Database]:
    """A store of its own."""
    async with await open_database(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        yield opened


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits are short."""
    for name in ("_RENEW_SECONDS", "_WAIT_SECONDS", "_LOOK_SECONDS"):
        monkeypatch.setattr(module, name, 0.02)
    monkeypatch.setattr(module, "wait_seconds", lambda tries: 0.001)


async def _until(is_so: Callable[[], Any]) -> None:
    async with asyncio.timeout(60):
        while not is_so():
            await asyncio.sleep(0.002)


def _said(logs: list[Any], event: str) -> list[dict[str, Any]]:
    """What was logged with this message, without the message and the level."""
    kept = [dict(one) for one in logs if one["event"] == event]
    return [{name: value for name, value in one.items() if name not in {"event", "log_level"}} for one in kept]


@pytest.mark.parametrize("method", ["take", "settle", "share"])
async def test_a_queue_that_fails_for_a_moment_loses_nothing(journal: EventQueue, place: Database, method: str) -> None:
    failures: list[Exception] = [StoreError("one"), StoreError("two")]
    queue: Any = _Failing(journal, **{method: failures})
    worker = EventWorker(queue, place, TRIES, 2)
    await _send(journal, _message("t", "m"))
    with capture_logs() as logs:
        await worker.start()
        await _until(lambda: worker.tally.written)
        await worker.stop(10)
    assert await _names(place.project(PROJECT), "t") == ["m"]
    assert (await journal.state()).packets == 0
    problem = "the queue can't be told what is written" if method == "settle" else "the queue can't be used"
    assert [one["reason"] for one in _said(logs, problem)] == ["one", "two"]
    if method == "take":
        assert all(0 <= one["lane"] < LANES for one in _said(logs, problem))
    assert _said(logs, "worker stopped") == [{"worker": worker._name, "written": 1}]


async def test_an_unexpected_error_ends_no_task(journal: EventQueue, place: Database) -> None:
    queue: Any = _Failing(journal, take=[ZeroDivisionError()], share=[ZeroDivisionError()])
    worker = EventWorker(queue, place, TRIES, 2)
    await _send(journal, _message("t", "m"))
    with capture_logs() as logs:
        await worker.start()
        await _until(lambda: worker.tally.written)
        await worker.stop(10)
    assert len(_said(logs, "an unexpected error while lanes were shared out")) == 1
    assert len(_said(logs, "an unexpected error; the batch is taken again")) == 1


async def test_pauses_grow_with_failures_in_a_row(
    journal: EventQueue, place: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[int] = []

    def pause(failures: int) -> float:
        pauses.append(failures)
        return 0.0

    monkeypatch.setattr(module, "_pause", pause)
    failing = [StoreError("a"), ZeroDivisionError(), StoreError("c")]
    queue: Any = _Failing(journal, take=failing)
    worker = EventWorker(queue, place, TRIES, 2)
    worker._safe_until = float("inf")
    task = asyncio.create_task(worker._work(LANE))
    await _until(lambda: len(queue.calls) >= 5)
    failing += [StoreError("d")]
    await _until(lambda: len(pauses) == 4)
    worker._ending.add(LANE)
    await task
    assert pauses == [1, 2, 3, 1]


async def test_a_worker_gives_its_lanes_back(journal: Any, place: Database) -> None:
    worker = EventWorker(journal, place, TRIES, 2)
    await worker.start()
    await _until(lambda: len(worker._lanes) == LANES)
    await worker.stop(10)
    assert (worker._lanes, worker._ending, (await journal.state()).workers) == ({}, set(), 0)


@pytest.mark.parametrize("error", [StoreError("no disk"), TimeoutError("late")])
async def test_lanes_that_cannot_be_given_back_are_left_to_others(
    journal: EventQueue, place: Database, error: Exception
) -> None:
    worker = EventWorker(_Failing(journal, leave=[error]), place, TRIES, 2)
    with capture_logs() as logs:
        await worker.stop(1)
    said = "the lanes could not be given back: others take them in a moment"
    assert _said(logs, said) == [{"reason": str(error)}]
    assert len(_said(logs, "worker stopped")) == 1


async def test_a_worker_without_its_queue_tells_nobody(journal: EventQueue, place: Database) -> None:
    queue: Any = _Failing(journal, leave=[])
    queue.is_away = True
    with capture_logs() as logs:
        await EventWorker(queue, place, TRIES, 2).stop(1)
    assert queue.calls == []
    said = "the queue is away: others take the lanes and the unfinished packets when it is back"
    assert [one["event"] for one in logs] == [said, "worker stopped"]


async def test_a_worker_that_is_not_sure_of_its_lanes_writes_nothing(journal: EventQueue, place: Database) -> None:
    queue: Any = _Failing(journal, take=[])
    worker = EventWorker(queue, place, TRIES, 2)
    task = asyncio.create_task(worker._work(LANE))
    await asyncio.sleep(0.06)
    assert queue.calls == []
    with pytest.raises(StoreError, match="the lanes are not held for certain any more"):
        await worker._write(LANE, [], None)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="once"):
        await worker._insist(_Failing(journal, settle=[StoreError("once")]).settle, "problem")
    task.cancel()


async def test_lanes_end_when_the_queue_stays_away_too_long(journal: EventQueue, place: Database) -> None:
    failing: list[Exception] = []
    queue: Any = _Failing(journal, share=failing)
    worker = EventWorker(queue, place, TRIES, 2)
    await worker.start()
    await _until(lambda: len(worker._lanes) == LANES)
    failing += [StoreError("away")] * 10_000
    await asyncio.sleep(0.06)
    assert len(worker._lanes) == LANES  # they are still held for certain
    worker._safe_until = 0.0
    await _until(lambda: not worker._lanes)
    failing.clear()
    await _until(lambda: len(worker._lanes) == LANES)
    await worker.stop(10)


async def test_lanes_are_shared_with_a_worker_that_comes_later(journal: EventQueue, place: Database) -> None:
    one, other = EventWorker(journal, place, TRIES, 2), EventWorker(journal, place, TRIES, 2)
    await one.start()
    await _until(lambda: len(one._lanes) == LANES)
    await other.start()
    await _until(lambda: len(one._lanes) == len(other._lanes) == LANES // 2)
    assert not one._lanes.keys() & other._lanes.keys()
    await one.stop(10)
    await _until(lambda: len(other._lanes) == LANES)
    await other.stop(10)


async def test_a_lane_whose_task_has_ended_begins_again(journal: EventQueue, place: Database) -> None:
    worker = EventWorker(journal, place, TRIES, 2)
    await worker.start()
    await _until(lambda: len(worker._lanes) == LANES)
    ended = worker._lanes[LANE]
    ended.cancel()
    await _until(lambda: worker._lanes.get(LANE) not in {None, ended})
    await worker.stop(10)


async def test_found_events_without_room_in_the_queue_are_written_at_once(journal: EventQueue, place: Database) -> None:
    spans = [
        _event("operationStarted", "t", operation="o", name="o", kind="Other"),
        _message("t", "a"),
        _message("t", "b"),
        _event("derived", "t", derivation="d", source="a", target="b", operation="o", kind="Derivation"),
    ]
    await _send(journal, *spans)
    queue: Any = _Failing(journal, settle=[QueueFullError()])
    worker = EventWorker(queue, place, TRIES, 2)
    taken = await journal.take(LANE, 16, 0)
    settlement = Settlement(done=list(taken), found=[one.packet for one in taken])
    await worker._settle(LANE, settlement)
    assert (settlement.found, queue.calls) == ([], ["settle", "settle"])
    assert await _names(place.project(PROJECT), "t") == ["a", "b"]
    assert (await journal.state()).packets == 0
    full: Any = _Failing(journal, settle=[QueueFullError()])
    with pytest.raises(QueueFullError):  # without found events, the room is not the batch's own
        await EventWorker(full, place, TRIES, 2)._settle(LANE, Settlement())
    assert full.calls == ["settle"]


async def test_long_work_is_reported_to_the_queue(
    journal: EventQueue, place: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LONG_SECONDS", -1.0)
    queue: Any = _Failing(journal, keep=[StoreError("gone")])
    await _send(journal, _message("t", "m"))
    taken = await journal.take(LANE, 16, 0)
    with capture_logs() as logs:
        keeping = asyncio.create_task(EventWorker(queue, place, TRIES, 2)._keep(LANE, taken))
        await _until(lambda: len(queue.calls) == 2)
        keeping.cancel()
    assert _said(logs, "a batch is not written yet")[0] == {"lane": LANE, "packets": 1, "seconds": 0}
    assert _said(logs, "the queue can't be told that work goes on") == [{"reason": "gone"}]


@pytest.mark.parametrize(("is_well", "apart"), [(True, [False] * 6 + [True]), (False, [False] * 8)])
async def test_the_cause_is_searched_in_the_batch_only_while_the_store_is_well(
    journal: EventQueue, place: Database, is_well: bool, apart: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[bool] = []
    done = Settlement()

    async def write(*_: Any, apart: bool) -> Settlement:
        found.append(apart)
        if apart or len(found) == 8:
            return done
        raise StoreError("broken")

    monkeypatch.setattr(module, "write", write)
    ill = [] if is_well else [StoreError("away"), TimeoutError(), *[StoreError("away")] * 9]
    database: Any = _Failing(place, has_current_layout=ill)
    worker = EventWorker(journal, database, TRIES, 2)
    worker._safe_until = float("inf")
    with capture_logs() as logs:
        assert await worker._write(LANE, [], None) is done  # type: ignore[arg-type]
    assert found == apart
    assert worker.tally.store_failures == len(apart) - 1
    said = [{"lane": LANE, "reason": "broken"}] * (len(apart) - 1)
    assert _said(logs, "the store can't be used; the batch waits") == said


async def test_a_store_with_an_old_layout_is_not_well(journal: EventQueue) -> None:
    class _Old:
        async def has_current_layout(self) -> bool:
            return False

    assert not await EventWorker(journal, _Old(), TRIES, 2)._is_store_well()  # type: ignore[arg-type]
