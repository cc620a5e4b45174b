"""Where boxes stand from left to right."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attribution.spine.quotient import ordered


def layers(successors: Sequence[Collection[int]], first: Collection[int]) -> list[int]:
    """The layer of each box: the longest way from a box that is made from none, so that edges lead to higher layers.

    What is made from nothing, and is not among ``first``, stands just before the first thing made from it.

    Args:
        successors: of each box, without cycles.
        first: boxes that stay at the beginning.
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
