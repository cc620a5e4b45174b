"""A small cache in memory for results that are slow to compute; any server can compute them again."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Recent(Generic[V]):
    """Values by key, each valid for some seconds; if there are too many, the least recently used one is dropped."""

    def __init__(self, most: int, seconds: float) -> None:
        """Make an empty cache.

        Args:
            most: the greatest number of values.
            seconds: how long a value is valid. This bounds the error of keys that don't name everything a value
                depends on.
        """
        self._most = most
        self._seconds = seconds
        self._kept: OrderedDict[Hashable, tuple[float, V]] = OrderedDict()

    async def get(self, key: Hashable, make: Callable[[], Awaitable[V]]) -> V:
        """The value of the key; ``make`` computes it if the cache has none that is still valid."""
        now = time.monotonic()
        found = self._kept.get(key)
        if found is not None and now - found[0] < self._seconds:
            self._kept.move_to_end(key)
            return found[1]
        value = await make()
        self._kept[key] = (now, value)
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return value
