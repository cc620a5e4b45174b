"""Lengths of the common beginning and end of two texts, compared in blocks."""

from __future__ import annotations


def common_start(left: str, right: str) -> int:
    """The number of characters with which both texts begin."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left.startswith(right[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def common_end(left: str, right: str) -> int:
    """The number of characters with which both texts end."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left.endswith(right[len(right) - middle : len(right) - low], 0, len(left) - low):
            low = middle
        else:
            high = middle - 1
    return low
