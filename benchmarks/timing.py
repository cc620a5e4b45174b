"""Measures contenders in turns, so that other load on the machine affects all contenders alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

Contender = Callable[[int], Awaitable[float]]
"""Takes the number of the run, negative for a warm-up; gives the seconds that count."""


@dataclass(frozen=True, slots=True)
class Series:
    """The results of several runs, in their order."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle."""
        return statistics.median(self.values)

    @property
    def low(self) -> float:
        """The least."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The most."""
        return max(self.values)

    def map(self, change: Callable[[float], float]) -> Series:
        """The series of changed values."""
        return Series(tuple(map(change, self.values)))


@dataclass(frozen=True, slots=True)
class Ratio:
    """One contender to another: the ratio of the medians, and the least and most among the pairs of runs."""

    value: float
    low: float
    high: float


def ratio(series: Series, peer: Series) -> Ratio:
    """The ratio of a contender to a peer; both were run in turns."""
    pairs = [one / other for one, other in zip(series.values, peer.values, strict=True)]
    return Ratio(series.median / peer.median, min(pairs), max(pairs))


async def alternate(runs: int, contenders: Mapping[str, Contender], warm_ups: int = 0) -> dict[str, Series]:
    """Seconds of each contender over some runs: A B, then B A, then A B, ...

    Args:
        runs: measured runs.
        contenders: by name.
        warm_ups: earlier runs that are not measured.
    """
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for run in range(-warm_ups, runs):
        for name in list(contenders) if run % 2 == 0 else reversed(list(contenders)):
            gc.collect()  # no contender pays for another one's garbage
            seconds = await contenders[name](run)
            if run >= 0:
                found[name].append(seconds)
    return {name: Series(tuple(values)) for name, values in found.items()}


async def timed(work: Awaitable[T]) -> tuple[float, T]:
    """The seconds of a call, and its result."""
    started = time.perf_counter()
    result = await work
    return time.perf_counter() - started, result
