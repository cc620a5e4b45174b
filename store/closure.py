"""Walking derivations: what both engines share, so that both give the same answer.

An engine says how to walk without bounds (one query) and how to take one step (the neighbours of a set). Bounds are
kept here, level by level.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from store.protocol import Budget, Direction

Step = Callable[[Sequence[str]], Awaitable[list[tuple[str, str, int]]]]
"""Takes ids; gives (id, neighbour, sequence of the neighbour) for each derivation."""


@dataclass(frozen=True, slots=True)
class Walk:
    """Visited variables with their sequences, and those among them with an unvisited neighbour."""

    visited: list[str]
    frontier: list[str]


async def bounded_walk(roots: Sequence[str], direction: Direction, budget: Budget, step: Step) -> Walk:
    """Visit the neighbours of ``roots`` level by level until a bound is met.

    A level is taken in the order of the trace, newest first when walking backward and oldest first when walking
    forward, so that a bound on nodes cuts at the same place in every engine.
    """
    deadline = None if budget.seconds is None else time.monotonic() + budget.seconds
    visited = dict.fromkeys(roots)
    level = list(visited)
    open_ends: set[str] = set()
    hops = 0
    while level:
        out_of_budget = (
            (budget.hops is not None and hops >= budget.hops)
            or (budget.nodes is not None and len(visited) >= budget.nodes)
            or (deadline is not None and time.monotonic() >= deadline)
        )
        pairs = await step(level)
        if out_of_budget:
            open_ends.update(source for source, neighbour, _ in pairs if neighbour not in visited)
            break
        found = {neighbour: sequence for _, neighbour, sequence in pairs if neighbour not in visited}
        ordered = sorted(found, key=lambda neighbour: found[neighbour], reverse=direction is Direction.BACKWARD)
        if budget.nodes is not None:
            room = budget.nodes - len(visited)
            cut = set(ordered[room:])
            open_ends.update(source for source, neighbour, _ in pairs if neighbour in cut)
            if cut:
                taken = ordered[:room]
                visited.update(dict.fromkeys(taken))
                open_ends.update(
                    source for source, neighbour, _ in (await step(taken) if taken else []) if neighbour not in visited
                )
                break
            ordered = ordered[:room]
        visited.update(dict.fromkeys(ordered))
        level = ordered
        hops += 1
    return Walk(list(visited), sorted(open_ends))


def shortest_path(pairs: Iterable[tuple[str, str]], start: str, goal: str, ranks: dict[str, int]) -> list[str]:
    """The shortest chain from ``start`` to ``goal`` along pairs (from, to); of several the one with lowest ranks.

    Args:
        pairs: edges, as (from, to).
        ranks: an order of the nodes; of equally short chains, the one whose nodes come first in it, looked at from
            ``start``.

    Returns:
        The nodes from ``start`` to ``goal``; empty where no chain exists.
    """
    forward: dict[str, list[str]] = {}
    backward: dict[str, list[str]] = {}
    for source, target in pairs:
        forward.setdefault(source, []).append(target)
        backward.setdefault(target, []).append(source)
    distance = {goal: 0}
    level: Collection[str] = [goal]
    while level and start not in distance:
        reached: dict[str, None] = {}
        for node in level:
            for neighbour in backward.get(node, ()):
                if neighbour not in distance:
                    distance[neighbour] = distance[node] + 1
                    reached[neighbour] = None
        level = reached
    if start not in distance:
        return []
    chain = [start]
    while chain[-1] != goal:
        here = chain[-1]
        nearer = (node for node in forward[here] if distance.get(node) == distance[here] - 1)
        chain.append(min(nearer, key=lambda node: ranks[node]))
    return chain
