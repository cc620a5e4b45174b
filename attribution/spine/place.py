"""Places boxes in a drawing: layers from top to bottom, few crossings, long edges around boxes.

The layers are given; the rest is the method of Sugiyama et al. (1981): an edge that passes layers gets a point in each,
layers are ordered by the mean position of neighbours, and each position is as near to the neighbours' as distances
allow.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_SWEEPS = 12
_MOVES = 60
_POINT = 26.0
"""The width of an edge in a layer that it passes."""
_STRAIGHT = 8.0


@dataclass(frozen=True, slots=True)
class Placed:
    """The centres of boxes, and the points of edges.

    Attributes:
        boxes: the x coordinate of each box.
        points: the points of each edge, one for each layer that it passes, from source to target.
        width: of the drawing; the leftmost box begins at 0.
    """

    boxes: list[float]
    points: list[list[float]]
    width: float


def place(
    layers: Sequence[int], edges: Sequence[tuple[int, int]], width: float, gap: float, straight: Sequence[bool]
) -> Placed:
    """Place boxes in their layers.

    Args:
        layers: of each box.
        edges: source and target of each, from a lower to a higher layer.
        width: of a box.
        gap: between two boxes.
        straight: for each edge, whether to keep it short before others.
    """
    return _Placing(layers, edges, width, gap, straight).placed()


class _Placing:
    def __init__(
        self,
        layers: Sequence[int],
        edges: Sequence[tuple[int, int]],
        width: float,
        gap: float,
        straight: Sequence[bool],
    ) -> None:
        self._boxes = len(layers)
        self._gap = gap
        self._rows: list[list[int]] = [[] for _ in range(max(layers, default=-1) + 1)]
        self._widths = [width] * self._boxes
        for box, layer in enumerate(layers):
            self._rows[layer].append(box)
        self._up: list[list[int]] = [[] for _ in layers]
        self._down: list[list[int]] = [[] for _ in layers]
        self._points: list[list[int]] = []
        self._weights: dict[tuple[int, int], float] = {}
        for (source, target), is_straight in zip(edges, straight, strict=True):
            passed = [self._point(layer) for layer in range(layers[source] + 1, layers[target])]
            self._points.append(passed)
            way = [source, *passed, target]
            for before, after in pairwise(way):
                self._down[before].append(after)
                self._up[after].append(before)
                self._weights[before, after] = self._weights[after, before] = _STRAIGHT if is_straight else 1.0

    def _point(self, layer: int) -> int:
        node = len(self._widths)
        self._widths.append(_POINT)
        self._up.append([])
        self._down.append([])
        self._rows[layer].append(node)
        return node

    def placed(self) -> Placed:
        """The finished placement."""
        self._order()
        middles = self._middles()
        left = min((middles[node] - self._widths[node] / 2 for node in range(len(middles))), default=0.0)
        right = max((middles[node] + self._widths[node] / 2 for node in range(len(middles))), default=0.0)
        at = [middle - left for middle in middles]
        return Placed(at[: self._boxes], [[at[node] for node in points] for points in self._points], right - left)

    def _order(self) -> None:
        best, rows = self._crossings(), [list(row) for row in self._rows]
        for sweep in range(_SWEEPS):
            beside = self._down if sweep % 2 else self._up
            for row in reversed(self._rows) if sweep % 2 else self._rows:
                place_of = {node: place / max(1, len(one) - 1) for one in self._rows for place, node in enumerate(one)}
                means = {
                    node: sum(place_of[one] for one in beside[node]) / len(beside[node])
                    if beside[node]
                    else place_of[node]
                    for node in row
                }
                row.sort(key=means.__getitem__)
            found = self._crossings()
            if found < best:
                best, rows = found, [list(row) for row in self._rows]
        self._rows = rows

    def _crossings(self) -> int:
        count = 0
        for row, below in pairwise(self._rows):
            place_of = {node: place for place, node in enumerate(below)}
            seen: list[int] = []
            for node in row:
                ends = sorted(place_of[one] for one in self._down[node])
                count += sum(len(seen) - bisect_right(seen, end) for end in ends)
                for end in ends:
                    insort(seen, end)
        return count

    def _middles(self) -> list[float]:
        middles = [0.0] * len(self._widths)
        beside = [[*up, *down] for up, down in zip(self._up, self._down, strict=True)]
        weights = [[self._weights[node, one] for one in some] for node, some in enumerate(beside)]
        for row in self._rows:
            self._settle(row, middles, [0.0] * len(row), [1.0] * len(row))
        for move in range(_MOVES):
            for row in reversed(self._rows) if move % 2 else self._rows:
                wished = [
                    sum(weight * middles[one] for weight, one in zip(weights[node], beside[node], strict=True))
                    / sum(weights[node])
                    if beside[node]
                    else middles[node]
                    for node in row
                ]
                self._settle(row, middles, wished, [sum(weights[node]) or 1.0 for node in row])
        return middles

    def _settle(
        self, row: Sequence[int], middles: list[float], wished: Sequence[float], weights: Sequence[float]
    ) -> None:
        """Move the nodes of a row as near to the wished positions as the distances allow (isotonic regression)."""
        offsets = [0.0]
        for before, after in pairwise(row):
            offsets.append(offsets[-1] + (self._widths[before] + self._widths[after]) / 2 + self._gap)
        blocks: list[tuple[float, float, int]] = []
        for wish, own, offset in zip(wished, weights, offsets, strict=False):
            mean, weight, count = wish - offset, own, 1
            while blocks and blocks[-1][0] > mean:
                other_mean, other_weight, other_count = blocks.pop()
                mean = (mean * weight + other_mean * other_weight) / (weight + other_weight)
                weight, count = weight + other_weight, count + other_count
            blocks.append((mean, weight, count))
        number = 0
        for mean, _, count in blocks:
            for _ in range(count):
                middles[row[number]] = mean + offsets[number]
                number += 1
