"""Metrics for Prometheus: of requests, and of the store and the queue at the moment of reading.

Each process has its own metrics, so every server has to be scraped.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Gauge, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.dependencies import platform_of
from api.http.event_metrics import STORE_SECONDS, EventMetrics
from api.http.lag import LoopLag
from api.http.routing import door_of, method_of, route_of
from api.http.stores import mapped_stores
from api.logs import dropped_lines
from schema.control import JobState
from schema.errors import StoreError

_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_REQUEST = ("door", "route", "method", "status")


class Metrics:
    """The metrics of a server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.seconds = Histogram(
            "memtrace_request_seconds",
            "Time from a request to the end of its answer.",
            _REQUEST,
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.under_way = Gauge("memtrace_requests_under_way", "Requests without an answer yet.", registry=self.registry)
        self.websockets = Gauge("memtrace_websockets", "Websockets that are open.", registry=self.registry)
        self.store_up = Gauge(
            "memtrace_store_up", "Whether the store answered when this was read.", registry=self.registry
        )
        self.mapped_store_up = Gauge(
            "memtrace_mapped_store_up",
            "Whether a store of some projects' traces could be used when this was read.",
            ["store"],
            registry=self.registry,
        )
        self.jobs = Gauge("memtrace_jobs", "Jobs in the store, by state.", ["state"], registry=self.registry)
        self.oldest_queued = Gauge(
            "memtrace_oldest_queued_job_seconds",
            "How long the job that waits longest has waited; 0 where none waits.",
            registry=self.registry,
        )
        self.events = EventMetrics(self.registry)
        self.lag = LoopLag(self.registry)
        self.registry.register(_DroppedLines())

    async def page(self, request: Request) -> Response:
        """The page of all metrics, with the present state of the store and its queue."""
        try:
            async with asyncio.timeout(STORE_SECONDS):
                queue = await platform_of(request).database.registry().queue()
        except (StoreError, TimeoutError):
            self.store_up.set(0)
            self.jobs.clear()
        else:
            self.store_up.set(1)
            for state in JobState:
                self.jobs.labels(state.value).set(queue.jobs.get(state.value, 0))
            oldest = queue.oldest_queued
            waited = (datetime.now(UTC) - oldest).total_seconds() if oldest else 0.0
            self.oldest_queued.set(max(0.0, waited))
        for name, found in (await mapped_stores(platform_of(request).database)).items():
            self.mapped_store_up.labels(name).set(found == "ok")
        await self.events.look(platform_of(request).events)
        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)


class _DroppedLines(Collector):
    """The number of lines that are missing in the log."""

    def collect(self) -> Iterator[CounterMetricFamily]:
        found = CounterMetricFamily(
            "memtrace_log_lines_dropped", "Lines of the log that were dropped because standard output took no more."
        )
        found.add_metric([], dropped_lines())
        yield found


class CountRequests:
    """Counts requests and measures how long they take."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        """Wrap an application."""
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a websocket."""
        if scope["type"] == "http":
            await self._count(scope, receive, send)
        elif scope["type"] == "websocket":
            with self._metrics.websockets.track_inprogress():
                await self._app(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _count(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        status = "none"

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = f"{message['status'] // 100}xx"
            await send(message)

        try:
            with self._metrics.under_way.track_inprogress():
                await self._app(scope, receive, watch)
        finally:
            labels = (door_of(scope), route_of(scope), method_of(scope), status)
            self._metrics.seconds.labels(*labels).observe(time.perf_counter() - began)
