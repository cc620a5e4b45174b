"""Keys with due times, by the monotonic clock, which nobody can set."""

from __future__ import annotations

import heapq
import time


class PutOff:
    """Keys, each with a due time."""

    def __init__(self) -> None:
        self._moments: dict[int, float] = {}
        self._heap: list[tuple[float, int]] = []

    def add(self, key: int, seconds: float) -> None:
        """Add a key that is due in ``seconds``; replaces the key's earlier due time."""
        moment = time.monotonic() + seconds
        self._moments[key] = moment
        heapq.heappush(self._heap, (moment, key))

    def drop(self, key: int) -> None:
        """Forget a key."""
        self._moments.pop(key, None)

    def due(self) -> list[int]:
        """Remove and return the keys that are due, the earliest first."""
        found = []
        while self.seconds_left() == 0:
            _, key = heapq.heappop(self._heap)
            del self._moments[key]
            found.append(key)
        return found

    def seconds_left(self) -> float | None:
        """Seconds until the next key is due; None if there is none."""
        while self._heap and self._moments.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)  # dropped, or added again with another due time
        return max(0.0, self._heap[0][0] - time.monotonic()) if self._heap else None
