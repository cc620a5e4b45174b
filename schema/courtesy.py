"""Work in threads that leaves the processor to others."""

from __future__ import annotations

import time

_STEPS = 50
_SLICE_SECONDS = 0.004
_ALONE = 0.8
"""The part of the time for which a thread works that nobody keeps waiting."""


class Courtesy:
    """Leaves the processor to others, where there are others.

    Threads take the interpreter in turns, and one that computes for seconds takes as many as each that answers a
    request in a millisecond. Once it had to wait for a good part of the time, it pauses for as long as it worked.
    """

    def __init__(self) -> None:
        """Counts from here on, in the thread that works."""
        self._steps = 0
        self._worked, self._now = time.thread_time(), time.perf_counter()

    def step(self) -> None:
        """Call it after every few microseconds of work."""
        self._steps += 1
        if self._steps % _STEPS:
            return
        worked = time.thread_time() - self._worked
        if worked < _SLICE_SECONDS:
            return
        if worked < _ALONE * (time.perf_counter() - self._now):
            time.sleep(worked)
        self._worked, self._now = time.thread_time(), time.perf_counter()
