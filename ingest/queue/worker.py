"""Writes the events in the queue until it is stopped: one batch at a time from each lane that this worker holds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import structlog
from memtrace.events import decode

from ingest.otlp.linking import Linker
from ingest.queue.packets import lane_of, unpack
from ingest.queue.protocol import LEASE_SECONDS, Delivery, EventQueue, Settlement
from ingest.queue.shares import worker_name
from ingest.queue.tally import Tally
from ingest.queue.write_packets import Waiting, WaitingBudget
from ingest.queue.writing import Slots, wait_seconds, write, write_found
from schema.errors import QueueFullError, StoreError
from store.contract.protocol import Database

T = TypeVar("T")

PACKETS = 16
"""Number of packets of a lane that are written together; more if the packets are small."""

_MOST_PACKETS = 128
_EVENTS = 4_000
"""About this number of events is written together if many small packets wait."""

_WAIT_SECONDS = 1.0
"""Longest wait for packets of a lane; also the longest time until an idle lane stops."""
_LOOK_SECONDS = 0.5
"""How often a worker that stops checks that the queue is still there."""

_RENEW_SECONDS = LEASE_SECONDS / 4
_MARGIN_SECONDS = 2.0
"""A worker stops writing this time before it would lose its lanes."""

_LONGEST_PAUSE_SECONDS = 10.0
_LONG_SECONDS = 5.0
_LOGGED = 20
"""Events of a batch that are logged when given up, one line each; writing thousands of lines would block the worker."""

_SUSPICION = 5
"""After this number of failures, if the store otherwise works, the cause is searched in the batch itself."""

_log = structlog.get_logger("memtrace.events")


class EventWorker:
    """Writes events of all projects.

    Attributes:
        tally: counts of the results.
    """

    def __init__(self, queue: EventQueue, database: Database, tries: int, concurrency: int) -> None:
        """Make a worker.

        Args:
            queue: the queue to read from.
            database: the stores to write to.
            tries: largest number of tries for an event that refers to elements which have not come yet.
            concurrency: number of traces that are written at the same time.
        """
        self.tally = Tally()
        self._queue = queue
        self._database = database
        self._tries = tries
        self._name = worker_name()
        self._slots = Slots(concurrency)
        self._memory = WaitingBudget()
        self._linker = Linker()
        self._lanes: dict[int, asyncio.Task[None]] = {}
        self._ending: set[int] = set()
        self._safe_until = 0.0
        self._tender: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to work in a background task."""
        self._tender = asyncio.create_task(self._tend())

    async def stop(self, seconds: float) -> None:
        """Finish the current batches within ``seconds``, and give the lanes to others.

        While the queue is away, the batches are not finished: the queue hands their packets out again.
        """
        if self._tender is not None:
            self._tender.cancel()
            await asyncio.gather(self._tender, return_exceptions=True)
        await self._end(set(self._lanes), seconds)
        if self._queue.is_away:
            _log.warning("the queue is away: others take the lanes and the unfinished packets when it is back")
        else:
            await self._leave()
        _log.info("worker stopped", worker=self._name, written=self.tally.written)

    async def _leave(self) -> None:
        try:
            async with asyncio.timeout(_MARGIN_SECONDS):
                await self._queue.leave(self._name)
        except (StoreError, TimeoutError) as error:
            _log.warning("the lanes could not be given back: others take them in a moment", reason=str(error))

    async def _tend(self) -> None:
        """Renew the lanes regularly, and run a task for each held lane."""
        _log.info("worker started", worker=self._name)
        give_back: frozenset[int] = frozenset()
        while True:
            before = time.monotonic()
            try:
                share = await self._queue.share(self._name, give_back)
            except StoreError as error:
                _log.warning("the queue can't be used", reason=str(error))
                if not self._is_safe():
                    await self._end(set(self._lanes), 0)
            except Exception:
                # Go on: if this task ended, nobody would work on the worker's lanes.
                _log.exception("an unexpected error while lanes were shared out")
            else:
                self._safe_until = before + LEASE_SECONDS - _MARGIN_SECONDS
                ended = {lane for lane, task in self._lanes.items() if task.done()}
                await self._end((self._lanes.keys() - share.held) | ended, 0)
                await self._end(share.surplus, LEASE_SECONDS / 4)
                give_back = share.surplus
                for lane in share.held - share.surplus - self._lanes.keys():
                    self._lanes[lane] = asyncio.create_task(self._work(lane))
                if give_back:
                    continue
            await asyncio.sleep(_RENEW_SECONDS)

    async def _end(self, lanes: set[int] | frozenset[int], seconds: float) -> None:
        """Stop working on lanes: after the current batch, or at once if the batch takes more than ``seconds``.

        Without the queue, no batch can be finished.
        """
        ending = {lane: self._lanes.pop(lane) for lane in lanes if lane in self._lanes}
        if not ending:
            return
        self._ending |= ending.keys()
        deadline, left = time.monotonic() + seconds, set(ending.values())
        while left and not self._queue.is_away and (wait := deadline - time.monotonic()) > 0:
            _, left = await asyncio.wait(left, timeout=min(wait, _LOOK_SECONDS))
        for task in ending.values():
            task.cancel()
        await asyncio.gather(*ending.values(), return_exceptions=True)
        self._ending -= ending.keys()

    async def _work(self, lane: int) -> None:
        waiting = Waiting(self._memory)
        try:
            await self._batches(lane, waiting)
        finally:
            waiting.close()
            # From now on another worker may write the lane's traces.
            self._linker.forget(lambda project_id, trace: lane_of(project_id, trace) == lane)

    async def _batches(self, lane: int, waiting: Waiting) -> None:
        failures, packets = 0, PACKETS
        while lane not in self._ending:
            try:
                if not self._is_safe():
                    await asyncio.sleep(_MARGIN_SECONDS)
                    continue
                deliveries = await self._queue.take(lane, packets, _WAIT_SECONDS)
                if deliveries:
                    packets = _packets_for(deliveries)
                    await self._batch(lane, deliveries, waiting)
                failures = 0
            except StoreError as error:
                failures += 1
                _log.warning("the queue can't be used", lane=lane, reason=str(error))
                await asyncio.sleep(_pause(failures))
            except Exception:
                failures += 1
                _log.exception("an unexpected error; the batch is taken again", lane=lane)
                await asyncio.sleep(_pause(failures))

    async def _batch(self, lane: int, deliveries: list[Delivery], waiting: Waiting) -> None:
        keeping = asyncio.create_task(self._keep(lane, deliveries))
        try:
            settlement = await self._write(lane, deliveries, waiting)
            await self._insist(lambda: self._settle(lane, settlement), "the queue can't be told what is written")
        finally:
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping
        self._count(settlement)

    async def _settle(self, lane: int, settlement: Settlement) -> None:
        """Report the result of a batch; if the queue has no room for found events, write them at once."""
        try:
            await self._queue.settle(lane, settlement)
        except QueueFullError:
            if not settlement.found:
                raise
            for packet in settlement.found:
                events = [decode(line) for line in unpack(packet)]
                await write_found(self._database.project(packet.project_id), events)
            settlement.found = []
            await self._queue.settle(lane, settlement)

    async def _write(self, lane: int, deliveries: list[Delivery], waiting: Waiting) -> Settlement:
        """Write a batch; waits as long as the store can't be reached."""
        failures = 0
        while True:
            if not self._is_safe():
                raise StoreError("the lanes are not held for certain any more: what is not written yet is others' now")
            try:
                apart = failures > _SUSPICION
                return await write(
                    self._database, deliveries, self._tries, self._slots, waiting, self._linker, apart=apart
                )
            except StoreError as error:
                self.tally.store_failures += 1
                _log.warning("the store can't be used; the batch waits", lane=lane, reason=str(error))
                # If the store otherwise works, one event of the batch may be the cause.
                failures = failures + 1 if await self._is_store_well() else 0
                await asyncio.sleep(_pause(max(1, failures)))

    async def _is_store_well(self) -> bool:
        try:
            async with asyncio.timeout(_LONGEST_PAUSE_SECONDS):
                # Asks all stores: while this project's store can't be reached, the events are not at fault.
                return await self._database.has_current_layout()
        except (StoreError, TimeoutError):
            return False

    def _is_safe(self) -> bool:
        """Whether the lanes certainly still belong to this worker."""
        return time.monotonic() < self._safe_until

    async def _insist(self, act: Callable[[], Awaitable[T]], problem: str) -> T:
        failures = 0
        while True:
            try:
                return await act()
            except StoreError as error:
                failures += 1
                if not self._is_safe():
                    raise
                _log.warning(problem, reason=str(error))
                await asyncio.sleep(_pause(failures))

    async def _keep(self, lane: int, deliveries: list[Delivery]) -> None:
        began = time.monotonic()
        while True:
            await asyncio.sleep(_RENEW_SECONDS)
            waited = round(time.monotonic() - began)
            if waited > _LONG_SECONDS:
                # The store's driver repeats failed writes for a while without a message.
                _log.warning("a batch is not written yet", lane=lane, packets=len(deliveries), seconds=waited)
            try:
                await self._queue.keep(deliveries)
            except StoreError as error:
                _log.warning("the queue can't be told that work goes on", reason=str(error))

    def _count(self, settlement: Settlement) -> None:
        tally = self.tally
        tally.batches += 1
        tally.written += sum(delivery.packet.count for delivery in settlement.done) - len(settlement.dead)
        tally.dead += len(settlement.dead)
        tally.postponed += len(settlement.later)
        for letter in settlement.dead[:_LOGGED]:
            _log.warning("event given up", project=letter.project_id, trace=letter.trace, reason=letter.reason)
        if len(settlement.dead) > _LOGGED:
            _log.warning("more events given up: they are among the dead letters", events=len(settlement.dead) - _LOGGED)


def _packets_for(deliveries: list[Delivery]) -> int:
    """How many packets like these to take together."""
    events = sum(delivery.packet.count for delivery in deliveries)
    return min(_MOST_PACKETS, max(PACKETS, _EVENTS * len(deliveries) // max(1, events)))


def _pause(failures: int) -> float:
    return min(_LONGEST_PAUSE_SECONDS, wait_seconds(failures))
