"""Limits the work that events can cause: a few bytes can stand for a value of megabytes."""

from __future__ import annotations

import time
from collections.abc import Callable

from api.errors import RateLimitedError, TooLargeError

_MANY = 1_000


class RebuiltBytes:
    """Bounds the bytes of values that are rebuilt for each project. Events may send only the new part of a value.

    A project that has anything left may use as much as one request can hold, and then waits until the debt is paid. A
    request is therefore accepted whole or not at all, and a refused request succeeds later. Each process counts
    separately.
    """

    def __init__(self, most: int, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing used.

        Args:
            most: bytes for one request, and for a project after a long pause.
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
            TooLargeError: the request needs more than one request may use; its events have to be sent in several
                requests.
            RateLimitedError: the project has nothing left.
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
        """Give back the bytes of a request that was not accepted."""
        if size:
            self._spent[project_id] = max(0.0, self._left_over(project_id) - size), self._clock()

    def _left_over(self, project_id: str) -> float:
        if len(self._spent) > _MANY:
            self._spent = {name: one for name, one in self._spent.items() if self._now(one) > 0}
        return self._now(self._spent.get(project_id, (0.0, 0.0)))

    def _now(self, spent: tuple[float, float]) -> float:
        amount, at = spent
        return max(0.0, amount - (self._clock() - at) * self._per_second)
