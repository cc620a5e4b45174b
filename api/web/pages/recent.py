"""What a server has worked out a moment ago, and need not work out again for each look at a page.

Nothing depends on it: another server, or this one after a restart, works it out again.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Recent(Generic[V]):
    """Some values by key, each for a while; beyond a number of them, what was asked for longest ago is forgotten."""

    def __init__(self, most: int, seconds: float) -> None:
        """Know nothing.

        Args:
            most: how many are kept.
            seconds: how long each is good. A key should say all that a value is made of, as far as that can be told
                cheaply; this bounds what it does not say.
        """
        self._most = most
        self._seconds = seconds
        self._kept: OrderedDict[Hashable, tuple[float, V]] = OrderedDict()

    async def get(self, key: Hashable, make: Callable[[], Awaitable[V]]) -> V:
        """The value of a key, made now unless it was made a moment ago."""
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
