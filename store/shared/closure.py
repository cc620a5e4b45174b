"""Walks within a budget, level by level.

An engine walks without bounds in one query. Within bounds, ``LevelWalk`` names the variables of the next level, and the
engine feeds it their neighbours; ``LevelWalk`` itself reads nothing.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from store.contract.answers import Budget, Direction

K = TypeVar("K", bound=Hashable)

Step = Callable[[Sequence[str]], Awaitable[list[tuple[str, str, int]]]]
"""Takes ids; returns (id, neighbour, sequence of the neighbour) for each derivation of these ids."""


@dataclass(frozen=True, slots=True)
class Walk:
    """The visited variables, nearest first, and the frontier: visited variables with unvisited neighbours, by id."""

    visited: list[str]
    frontier: list[str]


class LevelWalk(Generic[K]):
    """Visits the neighbours of some roots level by level, until a bound is reached.

    Variables of a level are visited in the order of the trace, backward the newest first, forward the oldest first, so
    that a bound on nodes cuts at the same place in every engine.

    Attributes:
        level: the variables whose neighbours to feed next; empty when the walk is over.
        visited: variables in the order of the visit.
        frontier: visited variables with an unvisited neighbour; complete when the walk is over.
    """

    def __init__(self, roots: Iterable[K], direction: Direction, budget: Budget) -> None:
        self.visited = dict.fromkeys(roots)
        self.level: list[K] = list(self.visited)
        self.frontier: set[K] = set()
        self._newest_first = direction is Direction.BACKWARD
        self._budget = budget
        self._deadline = None if budget.seconds is None else time.monotonic() + budget.seconds
        self._hops = 0
        self._is_last = self._out_of_budget()

    def feed(self, pairs: Collection[tuple[K, K, int]]) -> None:
        """Take the neighbours of ``level``: (variable, neighbour, sequence of the neighbour)."""
        visited, until = self.visited, self._budget.until
        if until is not None:
            pairs = [pair for pair in pairs if pair[2] <= until]
        if self._is_last:
            self.frontier.update(source for source, neighbour, _ in pairs if neighbour not in visited)
            self.level = []
            return
        found = {neighbour: sequence for _, neighbour, sequence in pairs if neighbour not in visited}
        taken = sorted(found, key=lambda neighbour: found[neighbour], reverse=self._newest_first)
        if self._budget.nodes is not None and len(taken) > self._budget.nodes - len(visited):
            taken = taken[: self._budget.nodes - len(visited)]
            visited.update(dict.fromkeys(taken))
            self.frontier.update(source for source, neighbour, _ in pairs if neighbour not in visited)
        else:
            visited.update(dict.fromkeys(taken))
        self.level = taken
        self._hops += 1
        self._is_last = self._out_of_budget()

    def _out_of_budget(self) -> bool:
        budget = self._budget
        return (
            (budget.hops is not None and self._hops >= budget.hops)
            or (budget.nodes is not None and len(self.visited) >= budget.nodes)
            or (self._deadline is not None and time.monotonic() >= self._deadline)
        )


async def bounded_walk(roots: Sequence[str], direction: Direction, budget: Budget, step: Step) -> Walk:
    """Drive a ``LevelWalk`` over ids with an asynchronous step."""
    walk = LevelWalk(roots, direction, budget)
    while walk.level:
        walk.feed(await step(walk.level))
    return Walk(list(walk.visited), sorted(walk.frontier))
