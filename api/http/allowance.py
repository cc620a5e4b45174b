"""Limits the work that events can cause: a few bytes can stand for a value of megabytes."""

from __future__ import annotations

import time
from collections.abc import Callable

from api.errors import RateLimitedError, TooLargeError

_MANY = 1_000


class RebuiltBytes:
    """How many bytes of values each project may have rebuilt, of which only the new part is sent.

    A project that has anything left may use as much as one request can hold, and then has to wait until that is made up
        for. So a request is taken whole or not at all, and one that is refused succeeds later. Each process counts for
        itself.
    """

    def __init__(self, most: int, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing used.

        Args:
            most: bytes of one request, and of a project that has used nothing for long.
            per_second: bytes that a project gets back.
            clock: seconds that only go forward.
        """
        self._most = most
        self._per_second = per_second
        self._clock = clock
        self._spent: dict[str, tuple[float, float]] = {}
        """By project: how much was spent, as of which time."""

    def take(self, project_id: str, size: int, events: int) -> None:
        """Count what a request uses.

        Raises:
            TooLargeError: it is more than one request may use, and its events could be sent in several requests.
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
        """Give back what was counted for a request that was not taken after all."""
        if size:
            self._spent[project_id] = max(0.0, self._left_over(project_id) - size), self._clock()

    def _left_over(self, project_id: str) -> float:
        if len(self._spent) > _MANY:
            self._spent = {name: one for name, one in self._spent.items() if self._now(one) > 0}
        return self._now(self._spent.get(project_id, (0.0, 0.0)))

    def _now(self, spent: tuple[float, float]) -> float:
        amount, at = spent
        return max(0.0, amount - (self._clock() - at) * self._per_second)
