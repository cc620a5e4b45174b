"""Metrics of events: the state of the queue, and the counts of this process's worker."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from schema.errors import StoreError

if TYPE_CHECKING:
    from ingest.queue.protocol import EventQueue
    from ingest.queue.tally import Tally

STORE_SECONDS = 2.0


class EventMetrics:
    """The metrics of events in one process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, text: str) -> Gauge:
            return Gauge(f"memtrace_{name}", text, registry=registry)

        self.received = Counter(
            "memtrace_events_received",
            "Events that came to this process, by what became of them at the door.",
            ["result"],
            registry=registry,
        )
        for result in ("accepted", "rejected"):
            self.received.labels(result)
        self._up = gauge("queue_up", "Whether the queue of events answered when this was read.")
        self._packets = gauge("queue_packets", "Packets of events that wait for the graph.")
        self._bytes = gauge("queue_bytes", "Bytes of them, compressed.")
        self._oldest = gauge("queue_oldest_seconds", "How long the oldest packet has waited; 0 where none waits.")
        self._dead = gauge("dead_letters", "Events that were given up and lie among the dead letters.")
        self._lost = gauge("dead_letters_lost", "Dead letters that were deleted because there were too many.")
        self._workers = gauge("event_workers", "Workers that write events to the graph.")
        self._registry = registry

    def work_of(self, tally: Tally) -> None:
        """Include the counts of this process's worker."""
        self._registry.register(_Work(tally))

    async def look(self, queue: EventQueue) -> None:
        """Read the present state of the queue."""
        try:
            async with asyncio.timeout(STORE_SECONDS):
                state = await queue.state()
        except (StoreError, TimeoutError):
            self._up.set(0)
            return
        self._up.set(1)
        self._packets.set(state.packets)
        self._bytes.set(state.bytes)
        waited = (datetime.now(UTC) - state.oldest).total_seconds() if state.oldest else 0.0
        self._oldest.set(max(0.0, waited))
        self._dead.set(state.dead)
        self._lost.set(state.lost)
        self._workers.set(state.workers)


class _Work(Collector):
    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The counts of the worker so far."""
        tally = self._tally
        yield CounterMetricFamily("memtrace_events_written", "Events that are in the graph.", tally.written)
        yield CounterMetricFamily("memtrace_events_given_up", "Events that became dead letters.", tally.dead)
        yield CounterMetricFamily("memtrace_packets_postponed", "Packets that came too early.", tally.postponed)
        yield CounterMetricFamily("memtrace_event_batches", "Batches that were written.", tally.batches)
        yield CounterMetricFamily(
            "memtrace_event_store_failures", "Batches that the store could not take.", tally.store_failures
        )
