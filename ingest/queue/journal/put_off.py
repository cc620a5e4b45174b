"""Tasks for later, by a clock that nobody can set."""

from __future__ import annotations

import heapq
import time


class PutOff:
    """Keys, each with the moment at which it is due."""

    def __init__(self) -> None:
        self._moments: dict[int, float] = {}
        self._heap: list[tuple[float, int]] = []

    def add(self, key: int, seconds: float) -> None:
        """Put a key off; if it is already put off, the new moment counts."""
        moment = time.monotonic() + seconds
        self._moments[key] = moment
        heapq.heappush(self._heap, (moment, key))

    def drop(self, key: int) -> None:
        """Forget a key."""
        self._moments.pop(key, None)

    def due(self) -> list[int]:
        """The keys that are due, in the order of their moments; they are forgotten."""
        found = []
        while self.seconds_left() == 0:
            _, key = heapq.heappop(self._heap)
            del self._moments[key]
            found.append(key)
        return found

    def seconds_left(self) -> float | None:
        """Seconds until the next key is due; None if there is none."""
        while self._heap and self._moments.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)  # forgotten, or put off anew
        return max(0.0, self._heap[0][0] - time.monotonic()) if self._heap else None
