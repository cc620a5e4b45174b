"""Work that takes the processor for long, each sort in a thread of its own, and one piece of it at a time.

Neither the event loop nor reads and writes of the store wait for it. The event loop waits for the interpreter as many
times as long as there are threads that compute, so only one of them does; the sorts take turns, so that one does not
wait for all that another has to do.
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
    """One thread for one sort of work, started when it is first needed; further work waits in turn."""

    def __init__(self, name: str) -> None:
        """Prepare the thread; it does not run yet.

        Args:
            name: the thread's.
        """
        self._name = name
        self._pool = ThreadPoolExecutor(1, name)

    async def run(self, work: Callable[[], T]) -> T:
        """Do some work, which takes at most a moment, and return its result.

        If the caller is cancelled before the work has begun, it is not done.
        """
        loop = asyncio.get_running_loop()
        if (turns := _turns.get(loop)) is None:
            turns = _turns[loop] = Turns(1)
        async with turns.turn(self._name):
            return await loop.run_in_executor(self._pool, work)
