"""How long others wait for the server's event loop while something happens, and how much memory that leaves behind."""

from __future__ import annotations

import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import psutil

from tests.server.running import RunningServer

REFUSED_SECONDS, ALLOWED_SECONDS = 0.25, 0.5
"""The longest wait beside a request that is refused, and beside one that is allowed, on a quiet machine."""

MEMORY_BYTES = 64 << 20
"""The most memory that the server may have more after something hostile."""

_REFERENCE_SECONDS = 0.002
"""The median of the waits for an idle server on a quiet machine."""

_CALIBRATION_SECONDS = 1.0
_VALID_SECONDS = 10.0
_TRIES = 5
_PAUSE_SECONDS = 1.0
_SETTLE_SECONDS = 20.0
_PATIENCE_SECONDS = 300.0


@dataclass(frozen=True)
class Measured:
    """The longest wait while something happened, and the memory that the server had more after it.

    Attributes:
        slowness: how many times as long as on a quiet machine others wait for the server when it is idle.
    """

    seconds: float
    more_bytes: int
    slowness: float

    def problem(self, limit: float) -> str | None:
        """What is beyond a bound; None if nothing is."""
        if self.seconds > limit * self.slowness:
            return f"others waited {self.seconds:.2f} s; {limit} s is the limit, here times {self.slowness:.1f}"
        if self.more_bytes > MEMORY_BYTES:
            return f"the server has {self.more_bytes >> 20} MiB more"
        return None


class Watch:
    """The waits of a process that asks the server for ``/healthz`` every 20 ms."""

    def __init__(self, server: RunningServer, lines: Iterator[str]) -> None:
        self._server = psutil.Process(server.process.pid)
        self._waits: list[tuple[float, float]] = []
        self._measured_at, self._known = -_VALID_SECONDS, 1.0
        self._thread = threading.Thread(target=self._read, args=(lines,), daemon=True)
        self._thread.start()

    def measure(self, attack: Callable[[], object]) -> Measured:
        """Run something, and see how long others wait meanwhile."""
        slowness = self._slowness()
        before = self._server.memory_info().rss
        began = time.monotonic()
        attack()
        ended = time.monotonic()
        self._await_after(ended)
        seconds = max(self._between(began, ended))
        while (more := self._server.memory_info().rss - before) > MEMORY_BYTES:
            if time.monotonic() > ended + _SETTLE_SECONDS:
                break
            time.sleep(0.1)
        return Measured(seconds, more, slowness)

    def check(self, attack: Callable[[], object], limit: float) -> str | None:
        """What is beyond a bound each time that something is tried; None if nothing is.

        Another process of the machine may have been what others waited for, so that some tries may fail.
        """
        problem = None
        for _ in range(_TRIES):
            problem = self.measure(attack).problem(limit)
            if problem is None:
                return None
            time.sleep(_PAUSE_SECONDS)
            self._measured_at = -_VALID_SECONDS
        return problem

    def join(self) -> None:
        """Wait until all is read, after the other process has ended."""
        self._thread.join()

    def _slowness(self) -> float:
        """How slow the machine is at the moment; measured anew after some seconds."""
        began = time.monotonic()
        if began > self._measured_at + _VALID_SECONDS:
            self._await_after(began + _CALIBRATION_SECONDS)
            idle = statistics.median(self._between(began, time.monotonic()))
            self._measured_at, self._known = time.monotonic(), max(1.0, idle / _REFERENCE_SECONDS)
        return self._known

    def _await_after(self, moment: float) -> None:
        """Wait for the answer to a request that began after a moment."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._waits or self._waits[-1][0] <= moment:
            assert self._thread.is_alive(), "the server answers nobody any more"
            assert time.monotonic() < deadline, "the server has not answered for minutes"
            time.sleep(0.005)

    def _between(self, began: float, ended: float) -> list[float]:
        return [took for start, took in list(self._waits) if start + took >= began and start <= ended] or [0.0]

    def _read(self, lines: Iterator[str]) -> None:
        for line in lines:
            start, took = map(float, line.split())
            self._waits.append((start, took))


@contextmanager
def watching(server: RunningServer) -> Iterator[Watch]:
    """Watch a server from a process of its own."""
    address = urlsplit(server.url)
    probe = subprocess.Popen(
        [sys.executable, "-m", "tests.hostile.probe", str(address.hostname), str(address.port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert probe.stdout is not None
    try:
        yield (watch := Watch(server, probe.stdout))
    finally:
        probe.kill()
        probe.wait()
        watch.join()
        probe.stdout.close()
