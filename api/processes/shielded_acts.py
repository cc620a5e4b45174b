"""Acts change something. An act that has begun runs to its end, even if nobody waits for it.

If a client hangs up, a websocket sends ``complete`` or a time limit is reached, only the waiting ends. If the act ended
too, a part of its writes would be done by chance, and nobody would know which.
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
        """Run an act, and wait for its result. If the waiting is cancelled, the act goes on."""
        task = asyncio.create_task(act)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_tell)
            raise

    async def close(self, seconds: float) -> None:
        """Wait for acts under way, and cancel acts that take longer than some seconds."""
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


def _tell(task: asyncio.Task[Any]) -> None:
    """Log the end of an act that nobody waits for."""
    if task.cancelled():
        _log.warning("an act was ended before it was done", act=task.get_name())
        return
    error = task.exception()
    _log.info(
        "an act was carried through, though nobody waits for it any more",
        outcome="ok" if error is None else type(error).__name__,
    )
