"""Acts that change something: once begun, an act is carried through, even if nobody waits for it any more.

If a client hangs up, a websocket sends ``complete`` or a time limit is reached, only the waiting ends. If the act ended
too, it would be left to chance how much of it was done, and nobody could be told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import structlog

T = TypeVar("T")

_log = structlog.get_logger("memtrace.acts")


class Acts:
    """The acts that are under way in one process."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Task[Any]] = set()

    async def carry(self, act: Coroutine[Any, Any, T]) -> T:
        """Do something, and wait for it; if the waiting is cancelled, it goes on all the same."""
        task = asyncio.create_task(act)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_tell)
            raise

    async def close(self, seconds: float) -> None:
        """Wait for acts that are under way, and cancel those that take longer than some seconds."""
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


def _tell(task: asyncio.Task[Any]) -> None:
    """Log how an act ended that nobody waits for any more."""
    if task.cancelled():
        _log.warning("an act was ended before it was done", act=task.get_name())
        return
    error = task.exception()
    _log.info(
        "an act was carried through, though nobody waits for it any more",
        outcome="ok" if error is None else type(error).__name__,
    )
