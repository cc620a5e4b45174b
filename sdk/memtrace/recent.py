"""A bounded dictionary that forgets what was not used for longest; several threads may use it."""

from __future__ import annotations

from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Holds what was set or looked up last: at most so many items, and so many bytes, half of them for certain.

    What is not used while half of the room fills anew is forgotten, all at once: to keep the order of use would cost at
    each look, and to forget one by one at each item.
    """

    __slots__ = ("_bytes", "_half", "_half_bytes", "_old", "_turning", "_young")

    def __init__(self, most: int, most_bytes: int = 0) -> None:
        """Make an empty one.

        Args:
            most: items.
            most_bytes: 0 is no bound.
        """
        self._young: dict[K, tuple[V, int]] = {}
        self._old: dict[K, tuple[V, int]] = {}
        self._bytes = 0
        self._turning = Lock()
        self._half = most // 2
        self._half_bytes = most_bytes // 2

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())

    def get(self, key: K) -> V | None:
        """The value of a key; None where there is none."""
        found = self._young.get(key)
        if found is not None:
            return found[0]
        # It stays there too: taken out, it would be in neither half for a thread that has just missed it in the other.
        found = self._old.get(key)
        if found is None:
            return None
        self.set(key, *found)
        return found[0]

    def set(self, key: K, value: V, size: int = 0) -> None:
        """Set the value of a new key, or of one that was looked up just now; it takes ``size`` bytes."""
        self._young[key] = value, size
        self._bytes += size
        if self._is_over() and self._turning.acquire(blocking=False):  # else another thread does it
            try:
                if self._is_over():
                    self._old, self._young, self._bytes = self._young, {}, 0
            finally:
                self._turning.release()

    def _is_over(self) -> bool:
        return len(self._young) > self._half or 0 < self._half_bytes < self._bytes
