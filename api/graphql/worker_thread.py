"""Work that takes the processor for long, each sort in a thread of its own.

Neither the event loop nor reads and writes of the store wait for it, and one sort does not wait for another. More
threads would not be faster, because only one runs at a time; they would only take the processor from the loop more
often.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class WorkerThread:
    """One thread for one sort of work, started when it is first needed; further work waits in turn."""

    def __init__(self, name: str) -> None:
        """Prepare the thread; it does not run yet.

        Args:
            name: the thread's.
        """
        self._pool = ThreadPoolExecutor(1, name)

    async def run(self, work: Callable[[], T]) -> T:
        """Do some work and return its result. If the caller is cancelled before it has begun, it is not done."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)
