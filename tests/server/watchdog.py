"""Watches the event loop of a server for anything that blocks it longer than a request may.

``watch`` runs in the server's process before its program. Each callback of the loop is measured by the processor time
of the loop's thread, which a busy machine does not lengthen; a slow one does, so the limit grows by as much as a
fixed piece of work takes longer than it should, measured anew whenever something seems to be too long. What was too
long is written to a file, with the places in the code where a second thread saw it. The start of the server and its
end are nobody's request, and not measured.

A thread that holds the interpreter's lock blocks the loop too, without any processor time of the loop: this is not
seen here.

Only the standard library is used, so that nothing is imported that the server would not import itself.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

LIMIT_SECONDS = 0.05
"""Of processor time, on a machine that does the fixed piece of work in ``REFERENCE_SECONDS``."""

REFERENCE_SECONDS = 0.003
_SAMPLE_SECONDS = 0.005
_SEEN_SECONDS = 0.02
"""Shorter callbacks are not looked at."""

_MEASURES = 5
"""The fixed work takes about as long as the measured callbacks, so that other processes slow down both equally."""

_STACKS = 3
_PLACES = 16


def watch(path: str) -> None:
    """Write what holds the loop of this process's server for too long to a file, one line of JSON each."""
    watchdog = _Watchdog(Path(path))
    watchdog.measure_handles()
    _between_start_and_end(watchdog)


class _Watchdog:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._clock = 0
        self._loop_thread = 0
        self._is_watching = False
        self._began: float | None = None
        self._collected: dict[int, float] = {}
        self._collecting_since = 0.0
        self._stacks: Counter[str] = Counter()

    def begin(self) -> None:
        """The server listens: from here on."""
        self._loop_thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._loop_thread)
        self._began = time.thread_time()
        gc.callbacks.append(self._count_collection)
        self._is_watching = True
        threading.Thread(target=self._look, daemon=True, name="watchdog").start()

    def end(self) -> None:
        """The server was told to stop: what comes now is the end of what had been begun."""
        self._is_watching = False

    def measure_handles(self) -> None:
        """Measure handles, in which a loop does everything: steps of tasks, callbacks, timers, input from sockets."""
        run = asyncio.Handle._run

        def measured(handle: asyncio.Handle) -> None:
            if not self._is_watching or threading.get_ident() != self._loop_thread:
                run(handle)
                return
            self._collected.clear()
            self._began = time.thread_time()
            try:
                run(handle)
            finally:
                began, self._began = self._began, None
                seconds = time.thread_time() - began
                if seconds > _SEEN_SECONDS:
                    stacks, self._stacks = self._stacks, Counter()
                    if seconds > LIMIT_SECONDS and self._is_watching:
                        self._judge(handle, seconds, stacks)

        asyncio.Handle._run = measured  # type: ignore[method-assign, assignment]

    def _judge(self, handle: asyncio.Handle, seconds: float, stacks: Counter[str]) -> None:
        slowness = max(1.0, sum(work_seconds() for _ in range(_MEASURES)) / _MEASURES / REFERENCE_SECONDS)
        if seconds <= LIMIT_SECONDS * slowness:
            return
        found = {
            "seconds": round(seconds, 4),
            "slowness": round(slowness, 2),
            "collecting": {str(generation): round(spent, 4) for generation, spent in self._collected.items()},
            "ran": _name(handle),
            "seen": stacks.most_common(_STACKS),
        }
        # At once, and in one piece: the server may be killed.
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, json.dumps(found).encode() + b"\n")
        os.close(descriptor)

    def _look(self) -> None:
        while self._is_watching:
            time.sleep(_SAMPLE_SECONDS)
            began = self._began
            if began is None or time.clock_gettime(self._clock) - began < _SEEN_SECONDS:
                continue
            frame = sys._current_frames().get(self._loop_thread)
            if frame is not None and self._began == began:
                self._stacks[_places(frame)] += 1

    def _count_collection(self, phase: str, of: dict[str, int]) -> None:
        if threading.get_ident() != self._loop_thread:
            return
        if phase == "start":
            self._collecting_since = time.thread_time()
        else:
            spent = self._collected.get(of["generation"], 0.0)
            self._collected[of["generation"]] = spent + time.thread_time() - self._collecting_since


def _between_start_and_end(watchdog: _Watchdog) -> None:
    import uvicorn

    startup, shutdown = uvicorn.Server.startup, uvicorn.Server.shutdown

    async def begun(server: uvicorn.Server, sockets: Any = None) -> None:
        await startup(server, sockets)
        watchdog.begin()

    async def ended(server: uvicorn.Server, sockets: Any = None) -> None:
        watchdog.end()
        await shutdown(server, sockets)

    uvicorn.Server.startup = begun  # type: ignore[method-assign, assignment]
    uvicorn.Server.shutdown = ended  # type: ignore[method-assign, assignment]


def work_seconds() -> float:
    """Processor time of a fixed piece of work like the server's own: numbers, texts and a dictionary."""
    began = time.thread_time()
    kept = {}
    for number in range(40_000):
        kept[number & 1023] = f"{number}"
    return time.thread_time() - began


def _name(handle: asyncio.Handle) -> str:
    callback: Callable[..., object] | None = handle._callback  # type: ignore[attr-defined]
    task = getattr(callback, "__self__", None)
    if isinstance(task, asyncio.Task):
        coroutine: Any = task.get_coro()
        code = getattr(coroutine, "cr_code", None)
        place = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
        return f"task of {getattr(coroutine, '__qualname__', coroutine)}{place}"
    return f"callback {getattr(callback, '__qualname__', None) or type(callback).__qualname__}"


def _places(frame: FrameType) -> str:
    # Without the machinery of imports, which stands in between each two modules.
    stack = [place for place in traceback.extract_stack(frame) if not place.filename.startswith("<frozen")][-_PLACES:]
    return "\n".join(f"    {place.filename}:{place.lineno} in {place.name}" for place in stack)


class Found:
    """Reads, in the tests, what a server's watchdog has written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = 0

    def new(self) -> list[str]:
        """What was written since the last call, for people to read."""
        if not self.path.exists():
            return []
        lines = self.path.read_bytes()[self._read :].splitlines(keepends=True)
        whole = [line for line in lines if line.endswith(b"\n")]
        self._read += sum(map(len, whole))
        return [_told(json.loads(line)) for line in whole]


_watched: list[Found] = []


def found_in(path: Path) -> Found:
    """What a server's watchdog will write to this file; looked at after each test."""
    _watched.append(found := Found(path))
    return found


def new_findings() -> list[str]:
    """What the watchdogs of all servers of this process have found since this was last asked."""
    return [text for found in _watched for text in found.new()]


def _told(found: dict[str, Any]) -> str:
    seen = "\n".join(f"  seen {count} times:\n{stack}" for stack, count in found["seen"])
    collecting = "".join(
        f", {spent * 1000:.0f} ms of it collecting garbage of generation {generation}"
        for generation, spent in found["collecting"].items()
    )
    return (
        f"the loop was held for {found['seconds'] * 1000:.0f} ms of processor time by {found['ran']}{collecting}; "
        f"the limit is {LIMIT_SECONDS * 1000:.0f} ms, here times {found['slowness']}\n{seen}"
    )
