"""Slots for work that takes long, which projects get in turn."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """A number of slots for pieces of work. If more wait, each waiting project gets a slot in its turn.

    A project that is alone may have all slots. It gets another one only after other waiting projects have had theirs,
    however much it has waiting. So the others wait for one piece of its work, never for all of it.
    """

    def __init__(self, slots: int) -> None:
        """Make a number of free slots."""
        self._free = slots
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, project_id: str) -> AsyncIterator[None]:
        """Hold a slot for a piece of a project's work; keep the piece small."""
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
                self._give_back()  # the slot came at the same moment
            raise

    def _give_back(self) -> None:
        while self._waiting:
            project_id, waiting = self._waiting.popitem(last=False)
            while waiting and waiting[0].done():  # cancelled, so they need no slot
                waiting.popleft()
            if waiting:
                first = waiting.popleft()
                if waiting:
                    self._waiting[project_id] = waiting
                first.set_result(None)
                return
        self._free += 1
