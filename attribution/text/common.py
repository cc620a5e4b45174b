"""What two texts have in common at their beginnings and ends, compared a part at a time."""

from __future__ import annotations


def common_start(left: str, right: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left.startswith(right[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def common_end(left: str, right: str) -> int:
    """How many characters two texts end with alike."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left.endswith(right[len(right) - middle : len(right) - low], 0, len(left) - low):
            low = middle
        else:
            high = middle - 1
    return low
