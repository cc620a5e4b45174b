"""How much work events may ask for: a few bytes can stand for a value of megabytes."""

from __future__ import annotations

import time
from collections.abc import Callable

from api.errors import RateLimitedError, TooLargeError

_MANY = 1_000


class RebuiltBytes:
    """What each project may have rebuilt of values of which only what is new is sent; each process counts for itself.

    Whoever has anything left may ask for as much as a request holds, and waits afterwards until it is made up for: so a
    request that is taken at all is taken whole, and one that is sent again later comes through.
    """

    def __init__(self, most: int, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Nobody has asked for anything yet.

        Args:
            most: bytes of one request, and what is left to a project that has not asked for long.
            per_second: bytes that come back.
            clock: seconds that only go forward.
        """
        self._most = most
        self._per_second = per_second
        self._clock = clock
        self._spent: dict[str, tuple[float, float]] = {}
        """By project: how much was spent, and when that was looked at."""

    def take(self, project_id: str, size: int, events: int) -> None:
        """Count what a request asks for.

        Raises:
            TooLargeError: it is more than one request may ask for, and there are several events to be sent apart.
            RateLimitedError: nothing is left.
        """
        if not size:
            return
        if size > self._most and events > 1:
            raise TooLargeError("what the values of these events come to", self._most)
        spent = self._left_over(project_id)
        if spent >= self._most:
            wait = (spent - self._most) / self._per_second
            raise RateLimitedError(wait, "too many bytes of values that begin with others")
        self._spent[project_id] = spent + size, self._clock()

    def give_back(self, project_id: str, size: int) -> None:
        """It was not taken after all."""
        if size:
            self._spent[project_id] = max(0.0, self._left_over(project_id) - size), self._clock()

    def _left_over(self, project_id: str) -> float:
        if len(self._spent) > _MANY:
            self._spent = {name: one for name, one in self._spent.items() if self._now(one) > 0}
        return self._now(self._spent.get(project_id, (0.0, 0.0)))

    def _now(self, spent: tuple[float, float]) -> float:
        amount, at = spent
        return max(0.0, amount - (self._clock() - at) * self._per_second)
