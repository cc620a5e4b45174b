"""A bounded dictionary that forgets what was not used for longest; several threads may use it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Holds what was set or looked up last: at most so many items, and so many bytes, half of them for certain.

    What is not used while half of the room fills anew is forgotten, all at once: to keep the order of use would cost at
    each look, and to forget one by one at each item.
    """

    __slots__ = ("_bytes", "_half", "_half_bytes", "_size", "_turning", "old", "young")

    def __init__(self, most: int, most_bytes: int = 0, size: Callable[[V], int] | None = None) -> None:
        """Make an empty one.

        Args:
            most: items.
            most_bytes: 0 is no bound.
            size: how many bytes a value takes; None where only items are bounded.
        """
        self.young: dict[K, V] = {}
        self.old: dict[K, V] = {}
        """What was used lately, and what before: where each call counts, look here."""
        self._bytes = 0
        self._size = size
        self._turning = Lock()
        self._half = most // 2
        self._half_bytes = most_bytes // 2

    def __len__(self) -> int:
        """How many items there are; what is in use may count twice."""
        return len(self.young) + len(self.old)

    def get(self, key: K) -> V | None:
        """The value of a key; None where there is none."""
        found = self.young.get(key)
        if found is None:
            # It stays there too: taken out, it would be in neither for a thread that has just missed it in the other.
            found = self.old.get(key)
            if found is not None:
                self.set(key, found)
        return found

    def set(self, key: K, value: V) -> None:
        """Set the value of a new key, or of one that was looked up just now."""
        self.young[key] = value
        if self._size is not None:
            self._bytes += self._size(value)
        if len(self.young) > self._half or 0 < self._half_bytes < self._bytes:
            self._turn()

    def _turn(self) -> None:
        if not self._turning.acquire(blocking=False):
            return  # another thread does it
        try:
            if len(self.young) > self._half or 0 < self._half_bytes < self._bytes:
                self.old, self.young, self._bytes = self.young, {}, 0
        finally:
            self._turning.release()
