"""Work that takes the processor for long, each sort in a thread of its own.

Neither the loop nor what reads and writes the store ever waits behind it, and one sort does not wait behind another.
More threads would do no more, for one runs at a time; they would only take the processor from the loop more often.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class WorkerThread:
    """One thread for one sort of work, begun with the first of it; who comes later waits."""

    def __init__(self, name: str) -> None:
        """Nothing runs yet.

        Args:
            name: the thread's.
        """
        self._pool = ThreadPoolExecutor(1, name)

    async def run(self, work: Callable[[], T]) -> T:
        """What some work gives. Who goes away before it was begun takes it back."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)
