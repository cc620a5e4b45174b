"""Measures the delay of the event loop: blocked loops block all requests of this process."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog
from prometheus_client import CollectorRegistry, Histogram

_TICK_SECONDS = 0.1
_LATE_SECONDS = 1.0
_QUIET_SECONDS = 10.0
_HURRIED_SECONDS, _HURRY_SECONDS, _HURRIED_TURN_SECONDS = 0.03, 1.0, 0.0002
"""Seconds of delay after which threads get shorter turns of the interpreter; for how long; the length of a turn."""
_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_log = structlog.get_logger("memtrace.loop")


class LoopLag:
    """Measures with a timer how late the loop runs due callbacks. Long delays are logged.

    While the loop is late, computing threads get shorter turns of the interpreter, so that the loop gets its turn
    sooner.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "memtrace_loop_lag_seconds",
            f"How much later than due a timer of {_TICK_SECONDS * 1000:.0f} ms ran on the event loop.",
            buckets=_BUCKETS,
            registry=registry,
        )
        self._times = 0
        self._longest = 0.0
        self._told_at: float | None = None
        self._late_at = -math.inf

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Measure the running loop."""
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        usual = sys.getswitchinterval()
        try:
            while True:
                due = loop.time() + _TICK_SECONDS
                await asyncio.sleep(_TICK_SECONDS)
                now = loop.time()
                self.note(now - due, now)
                sys.setswitchinterval(min(usual, _HURRIED_TURN_SECONDS) if self.hurries(now) else usual)
        finally:
            sys.setswitchinterval(usual)

    def hurries(self, now: float) -> bool:
        """Whether threads should have shorter turns now. Shorter turns cost threads a seventh of their speed."""
        return now - self._late_at < _HURRY_SECONDS

    def note(self, late: float, now: float) -> None:
        """Count a delay (in seconds, like the time), and log long ones at most once in 10 seconds."""
        self._seconds.observe(max(0.0, late))
        if late > _HURRIED_SECONDS:
            self._late_at = now
        if late > _LATE_SECONDS:
            self._times += 1
            self._longest = max(self._longest, late)
        if self._times and (self._told_at is None or now - self._told_at >= _QUIET_SECONDS):
            _log.warning("the event loop was late", longest_seconds=round(self._longest, 3), times=self._times)
            self._times, self._longest, self._told_at = 0, 0.0, now
