"""Slots for long work; waiting projects get slots in turn."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """A number of slots for pieces of work; waiting projects take turns.

    A project that is alone may have all slots. While others wait, a project gets its next slot only after each waiting
    project has had one. So others wait for one piece of a project's work, never for all pieces.
    """

    def __init__(self, slots: int) -> None:
        """``slots``: number of slots."""
        self._free = slots
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, project_id: str) -> AsyncIterator[None]:
        """Hold a slot for a piece of a project's work; the piece should be small."""
        await self._take(project_id)
        try:
            yield
        finally:
            self._give_back()

    async def _take(self, project_id: str) -> None:
        if self._free and not self._waiting:
            self._free -= 1
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(project_id, deque()).append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._give_back()  # the slot was granted at the moment of the cancellation
            raise

    def _give_back(self) -> None:
        while self._waiting:
            project_id, waiting = self._waiting.popitem(last=False)
            while waiting and waiting[0].done():  # a cancelled waiter needs no slot
                waiting.popleft()
            if waiting:
                first = waiting.popleft()
                if waiting:
                    self._waiting[project_id] = waiting
                first.set_result(None)
                return
        self._free += 1
