"""A graph without cycles whose nodes are merged one by one, without making cycles.

Reachability is stored as bits of integers, so that a merge, and the test whether a merge is possible, take only a few
operations on integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush


def bits(mask: int) -> Iterator[int]:
    """The indexes of the set bits, lowest first."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def ordered(successors: Sequence[Iterable[int]]) -> list[int]:
    """The nodes in topological order; of several possible next nodes, the lowest number comes first.

    Raises:
        ValueError: the graph has a cycle.
    """
    waiting = [0] * len(successors)
    for after in successors:
        for node in after:
            waiting[node] += 1
    ready = [node for node, count in enumerate(waiting) if not count]
    heapify(ready)
    found = []
    while ready:
        node = heappop(ready)
        found.append(node)
        for after_node in successors[node]:
            waiting[after_node] -= 1
            if not waiting[after_node]:
                heappush(ready, after_node)
    if len(found) < len(successors):
        raise ValueError("the graph has a cycle")
    return found


class Quotient:
    """Nodes 0 to n - 1; a merged node keeps the lowest number of its parts.

    Attributes:
        alive: the current nodes, as bits.
    """

    def __init__(self, successors: Sequence[Iterable[int]]) -> None:
        """Start with single nodes.

        Raises:
            ValueError: the graph has a cycle.
        """
        count = len(successors)
        self.alive = (1 << count) - 1
        self._members = [1 << node for node in range(count)]
        self._next = [0] * count
        self._before = [0] * count
        self._down = [1 << node for node in range(count)]
        self._up = [1 << node for node in range(count)]
        order = ordered(successors)
        for node in order:
            for after in successors[node]:
                self._next[node] |= 1 << after
                self._before[after] |= 1 << node
                self._up[after] |= self._up[node]
        for node in reversed(order):
            for after in successors[node]:
                self._down[node] |= self._down[after]

    def members(self, node: int) -> int:
        """The original nodes merged into a node, as bits."""
        return self._members[node]

    def after(self, node: int) -> int:
        """The direct successors of a node, as bits."""
        return self._next[node] & self.alive

    def before(self, node: int) -> int:
        """The direct predecessors of a node, as bits."""
        return self._before[node] & self.alive

    def down(self, node: int) -> int:
        """The nodes reachable from a node, itself included, as bits."""
        return self._down[node] & self.alive

    def up(self, node: int) -> int:
        """The nodes from which a node is reachable, itself included, as bits."""
        return self._up[node] & self.alive

    def between(self, nodes: int) -> int:
        """All nodes on paths between the given nodes, these included: a merge must include them."""
        down = up = 0
        for node in bits(nodes):
            down |= self._down[node]
            up |= self._up[node]
        return down & up & self.alive

    def can_merge(self, one: int, other: int) -> bool:
        """Whether no path leads from one to the other through a third node."""
        inner = (self._down[one] & self._up[other]) | (self._down[other] & self._up[one])
        return not inner & self.alive & ~(1 << one | 1 << other)

    def merge(self, nodes: int) -> int:
        """Merge nodes and everything between them; returns the number of the merged node."""
        merged = self.between(nodes)
        keep = (merged & -merged).bit_length() - 1
        inside = list(bits(merged))
        if len(inside) == 1:
            return keep
        members = following = before = down = up = 0
        for node in inside:
            members |= self._members[node]
            following |= self._next[node]
            before |= self._before[node]
            down |= self._down[node]
            up |= self._up[node]
        own = 1 << keep
        self._members[keep] = members
        self._next[keep], self._before[keep] = following & ~merged, before & ~merged
        self._down[keep], self._up[keep] = (down & ~merged) | own, (up & ~merged) | own
        self.alive &= ~merged | own
        outside = self.alive & ~own
        for node in bits(before & outside):
            self._next[node] = (self._next[node] & ~merged) | own
        for node in bits(following & outside):
            self._before[node] = (self._before[node] & ~merged) | own
        for node in bits(up & outside):
            self._down[node] = (self._down[node] & ~merged) | self._down[keep]
        for node in bits(down & outside):
            self._up[node] = (self._up[node] & ~merged) | self._up[keep]
        return keep

    def ordered(self) -> list[int]:
        """The nodes in topological order."""
        return sorted(bits(self.alive), key=lambda node: (self.up(node).bit_count(), node))
