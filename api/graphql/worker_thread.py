"""Work that takes the processor for long, in a thread for each kind of work.

The event loop and the store don't wait for such work. But the loop's waits for the interpreter grow with the number of
computing threads, so only one thread computes at a time. The kinds of work take turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from weakref import WeakKeyDictionary

from ingest.queue.turns import Turns

T = TypeVar("T")

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, Turns] = WeakKeyDictionary()


class WorkerThread:
    """A thread for one kind of work, started when it is first needed. Its work is done in order."""

    def __init__(self, name: str) -> None:
        """Prepare the thread; it is not started yet.

        Args:
            name: the thread's.
        """
        self._name = name
        self._pool = ThreadPoolExecutor(1, name)

    async def run(self, work: Callable[[], T]) -> T:
        """Run a function in the thread, and return its result.

        If the caller is cancelled before the function has begun, it is not called.
        """
        loop = asyncio.get_running_loop()
        if (turns := _turns.get(loop)) is None:
            turns = _turns[loop] = Turns(1)
        async with turns.turn(self._name):
            return await loop.run_in_executor(self._pool, work)
