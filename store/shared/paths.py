"""Finds the shortest paths in an acyclic graph."""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from schema.errors import InputError

K = TypeVar("K", bound=Hashable)

MOST_PATHS = 100


def shortest_paths(
    pairs: Iterable[tuple[K, K]], start: K, goal: K, ranks: Mapping[K, int], limit: int = 1
) -> list[list[K]]:
    """The shortest chains from ``start`` to ``goal`` along pairs (from, to) of an acyclic graph.

    A graph may have 2^300 chains. So chains are found one by one, each as a prefix with the best continuation, as in
    Lawler's procedure (Management Science 18, 1972): each chain adds the next best prefix at each of its branches.
    Distances to the goal are known, so no prefix is a dead end, and only ``limit`` prefixes are kept.

    Args:
        pairs: edges, as (from, to); repeated edges count once.
        start: the first node of each chain.
        goal: the last node of each chain.
        ranks: order of the nodes other than ``start``. Chains of equal length are compared node by node by these ranks,
            beginning at ``start``.
        limit: the largest number of chains.

    Returns:
        The nodes of each chain from ``start`` to ``goal``; empty if no chain exists.
    """
    forward: dict[K, set[K]] = {}
    backward: dict[K, list[K]] = {}
    for source, target in pairs:
        forward.setdefault(source, set()).add(target)
        backward.setdefault(target, []).append(source)
    distance = _distances(backward, goal)
    if start not in distance:
        return []
    nodes = sorted(distance, key=lambda node: -1 if node == start else ranks[node])
    places = {node: place for place, node in enumerate(nodes)}
    onward: dict[int, list[tuple[int, int]]] = {}

    def ways_on(place: int) -> list[tuple[int, int]]:
        """Distance and place of each neighbour that leads to the goal, the best first."""
        if place not in onward:
            near = (node for node in forward[nodes[place]] if node in distance)
            onward[place] = sorted((distance[node], places[node]) for node in near)
        return onward[place]

    end = places[goal]
    found: list[list[K]] = []
    waiting: list[tuple[int, tuple[int, ...], int]] = [(distance[start], (places[start],), 0)]
    """Prefixes to continue: length of the whole chain, the prefix, and the number of its last step in ``ways_on``."""

    def leave(prefix: Sequence[int], number: int) -> None:
        """Keep a prefix, extended by one step of ``ways_on``, for later."""
        ways = ways_on(prefix[-1])
        if number < len(ways):
            remaining, place = ways[number]
            length = len(prefix) + remaining
            room = limit - len(found)
            if len(waiting) < room or length <= waiting[-1][0]:
                insort(waiting, (length, (*prefix, place), number))
                del waiting[room:]

    while waiting:
        _, prefix, number = waiting.pop(0)
        chain = list(prefix)
        while chain[-1] != end:
            chain.append(ways_on(chain[-1])[0][1])
        found.append([nodes[place] for place in chain])
        if len(found) == limit:
            break
        if len(prefix) > 1:
            leave(prefix[:-1], number + 1)
        for length in range(len(prefix), len(chain)):
            if len(ways_on(chain[length - 1])) > 1:
                leave(chain[:length], 1)
    return found


def _distances(backward: Mapping[K, Collection[K]], goal: K) -> dict[K, int]:
    """The distance to the goal, for each node that leads to the goal."""
    distance = {goal: 0}
    level: Collection[K] = [goal]
    while level:
        reached: dict[K, None] = {}
        for node in level:
            for neighbour in backward.get(node, ()):
                if neighbour not in distance:
                    distance[neighbour] = distance[node] + 1
                    reached[neighbour] = None
        level = reached
    return distance


def steps_of(chains: Iterable[Sequence[K]]) -> set[tuple[K, K]]:
    """The edges (from, to) of some chains."""
    return {step for chain in chains for step in pairwise(chain)}


def check_limit(limit: int) -> None:
    """Check a requested number of paths.

    Raises:
        InputError: the number is not between 1 and ``MOST_PATHS``.
    """
    if not 1 <= limit <= MOST_PATHS:
        raise InputError("paths", "limit", f"{limit} is not between 1 and {MOST_PATHS}")
