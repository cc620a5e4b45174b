"""A dictionary of limited size that forgets the least recently used items; threads may share it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Keeps the items that were set or looked up last, within limits of number and bytes.

    Items are in two halves. When the young half is full, the old half is forgotten and the young half becomes the old
    one. Keeping the exact order of use would cost time at each look-up and insertion.
    """

    __slots__ = ("_bytes", "_half", "_half_bytes", "_size", "_turning", "old", "young")

    def __init__(self, most: int, most_bytes: int = 0, size: Callable[[V], int] | None = None) -> None:
        """Make an empty one.

        Args:
            most: largest number of items.
            most_bytes: largest total size; 0 means no limit.
            size: gives the size of a value in bytes; None if only the number of items is limited.
        """
        self.young: dict[K, V] = {}
        self.old: dict[K, V] = {}
        """The halves; code that runs often reads them directly."""
        self._bytes = 0
        self._size = size
        self._turning = Lock()
        self._half = most // 2
        self._half_bytes = most_bytes // 2

    def __len__(self) -> int:
        """The number of items; an item that is in use may be counted twice."""
        return len(self.young) + len(self.old)

    def get(self, key: K) -> V | None:
        """The value of a key; None if there is none."""
        found = self.young.get(key)
        if found is None:
            # The item stays in the old half too: otherwise a thread that has just missed it in the young half would
            # find it in neither.
            found = self.old.get(key)
            if found is not None:
                self.set(key, found)
        return found

    def set(self, key: K, value: V) -> None:
        """Set the value of a new key, or of a key that was looked up just now."""
        self.young[key] = value
        if self._size is not None:
            self._bytes += self._size(value)
        if len(self.young) > self._half or 0 < self._half_bytes < self._bytes:
            self._turn()

    def take_in(self, other: Recent[K, V]) -> None:
        """Add the items of another dictionary under keys that are new here."""
        for key, value in [*other.old.items(), *other.young.items()]:
            if self.get(key) is None:
                self.set(key, value)

    def _turn(self) -> None:
        if not self._turning.acquire(blocking=False):
            return  # another thread is turning
        try:
            if len(self.young) > self._half or 0 < self._half_bytes < self._bytes:
                self.old, self.young, self._bytes = self.young, {}, 0
        finally:
            self._turning.release()
