"""Bounds how much of the same kind is done at once, for each key apart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary


class Turns:
    """Who comes first is served first. A key that nobody holds or waits for takes no memory."""

    def __init__(self, at_once: int) -> None:
        """Begin with nothing held.

        Args:
            at_once: how many may hold a place of the same key.
        """
        self._at_once = at_once
        self._places: WeakValueDictionary[Hashable, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, key: Hashable) -> AsyncIterator[None]:
        """Wait for a place, and hold the place for the length of a ``with`` block."""
        places = self._places.setdefault(key, asyncio.Semaphore(self._at_once))
        async with places:
            yield
