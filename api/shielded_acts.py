"""Acts that change something: one that has begun is carried through, whoever stops waiting for it.

A client that hangs up, a websocket's ``complete`` and a time limit end the waiting. Ending the act too would leave it
to chance what of it was done, and nobody could be told.
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
        """Do something, and wait for it; where the waiting is cancelled it goes on all the same."""
        task = asyncio.create_task(act)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_tell)
            raise

    async def close(self, seconds: float) -> None:
        """Let what is under way come to its end, and end what takes longer than some seconds."""
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


def _tell(task: asyncio.Task[Any]) -> None:
    """Say in the log how an act ended that nobody waits for any more."""
    if task.cancelled():
        _log.warning("an act was ended before it was done", act=task.get_name())
        return
    error = task.exception()
    _log.info("an act was carried through for nobody", outcome="ok" if error is None else type(error).__name__)
