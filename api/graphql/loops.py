"""Event loops in threads of their own, for operations that complete thousands of fields.

Completing a field is a few microseconds of Python, and graphql-core completes all fields of a level, or all that one
answer of the store was waited for with, before it lets anything else run. On the server's loop nobody else would be
answered meanwhile. In a thread of its own an operation shares the interpreter with the server's loop, in turns of a
millisecond (``sys.setswitchinterval``). What belongs to the server's loop, such as stores, is still used there: see
``on_loop``.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, TypeVar, cast

from store.runtime.garbage_collector import full_looks_put_off

T = TypeVar("T")

THREADS = 2
"""The most large operations that run side by side; more share threads, and may wait for each other."""


class LoopThreads:
    """Threads with an event loop each, started when they are needed."""

    def __init__(self, most: int = THREADS) -> None:
        """Prepare the threads; they are not started yet.

        Args:
            most: largest number of threads.
        """
        self._most = most
        self._running: dict[asyncio.AbstractEventLoop, int] = {}
        self._lock = threading.Lock()

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the loop of the thread with the least to do, and return its result.

        If the caller is cancelled, the coroutine is cancelled too; the caller does not wait for its end.
        """
        loop = self._begin()
        try:
            with full_looks_put_off():
                return await _across(work(), loop)
        finally:
            with self._lock:
                self._running[loop] -= 1

    def _begin(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            loop = min(self._running, key=self._running.__getitem__, default=None)
            if loop is None or (self._running[loop] and len(self._running) < self._most):
                loop = asyncio.new_event_loop()
                name = f"graphql-{len(self._running)}"
                threading.Thread(target=loop.run_forever, name=name, daemon=True).start()
                self._running[loop] = 0
            self._running[loop] += 1
            return loop


def on_loop(thing: T, loop: asyncio.AbstractEventLoop) -> T:
    """A proxy of an object that belongs to another loop. Coroutines of the object run on the object's loop."""
    return cast("T", _OnLoop(thing, loop))


class _OnLoop:
    def __init__(self, thing: object, loop: asyncio.AbstractEventLoop) -> None:
        self._thing = thing
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._thing, name)
        if inspect.isasyncgenfunction(found):
            raise TypeError(f"{name} gives its results one by one, which no other loop can wait for")
        if not inspect.iscoroutinefunction(found):
            return found

        @wraps(found)
        async def called(*args: Any, **kwargs: Any) -> Any:
            return await _across(found(*args, **kwargs), self._loop)

        return called


async def _across(coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))
