"""Assigns boxes to layers."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attribution.spine.quotient import ordered


def layers(successors: Sequence[Collection[int]], first: Collection[int]) -> list[int]:
    """The layer of each box: the length of the longest path from a box without sources. Edges lead to higher layers.

    A box without sources that is not among ``first`` stands just before its first successor.

    Args:
        successors: of each box, without cycles.
        first: boxes that stay in layer 0.
    """
    order = ordered(successors)
    layer = [0] * len(successors)
    sources = set(range(len(successors)))
    for box in order:
        for after in successors[box]:
            layer[after] = max(layer[after], layer[box] + 1)
            sources.discard(after)
    for box in sources.difference(first):
        if successors[box]:
            layer[box] = min(layer[after] for after in successors[box]) - 1
    return layer
