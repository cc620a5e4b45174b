"""Limits the number and cost of live calls of models; several proxies may share one budget."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spent:
    """Number of calls and tokens, and their cost; None without prices."""

    calls: int
    tokens: int
    cost: float | None


class Budget:
    """Counts live calls, and refuses calls beyond the limits. Threads may share a budget.

    Args:
        calls: largest number of live calls; None means no limit.
        cost: once this is spent, no further call is made.
        prices: of a million tokens, by ``input`` and ``output``; without prices nothing has a cost.
    """

    def __init__(
        self, calls: int | None = None, cost: float | None = None, prices: Mapping[str, float] | None = None
    ) -> None:
        self._most_calls = calls
        self._most_cost = cost
        self._prices = prices
        self._calls = 0
        self._tokens = {"input": 0, "output": 0}
        self._lock = threading.Lock()

    def take(self) -> str | None:
        """Count one more call, and return None; or return the reason why no further call may be made."""
        with self._lock:
            if self._most_calls is not None and self._calls >= self._most_calls:
                return f"the limit of {self._most_calls:,} live calls of models is reached"
            cost = self._cost()
            if self._most_cost is not None and cost is not None and cost >= self._most_cost:
                return "the limit of the cost of models is reached"
            self._calls += 1
        return None

    def used(self, tokens: Mapping[str, int]) -> None:
        """Count the tokens of a call, by ``input`` and ``output``."""
        with self._lock:
            for side, number in tokens.items():
                self._tokens[side] += number

    def spent(self) -> Spent:
        """The calls, tokens and cost so far."""
        with self._lock:
            return Spent(self._calls, sum(self._tokens.values()), self._cost())

    def _cost(self) -> float | None:
        if self._prices is None:
            return None
        return sum(number * self._prices[side] for side, number in self._tokens.items()) / 1e6
