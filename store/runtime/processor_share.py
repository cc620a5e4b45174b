"""Long computations in a thread that let other threads run meanwhile."""

from __future__ import annotations

import time

_STEPS = 50
_SLICE_SECONDS = 0.004
_ALONE = 0.8
"""A thread that runs for at least this part of the time is alone: no other wants the processor."""


class ProcessorShare:
    """Pauses a long computation where other threads want to run.

    Threads take turns with the interpreter, and a thread that computes for seconds gets as many turns as one that
    answers a request in a millisecond. So a thread that had to wait for a good part of the time pauses for as long as
    it has worked.
    """

    def __init__(self) -> None:
        """Begin to count; make it in the thread that does the work."""
        self._steps = 0
        self._worked, self._now = time.thread_time(), time.perf_counter()

    def step(self, steps: int = 1) -> None:
        """To be called after every few microseconds of work, or once for so many of them."""
        self._steps += steps
        if self._steps < _STEPS:
            return
        self._steps = 0
        worked = time.thread_time() - self._worked
        if worked < _SLICE_SECONDS:
            return
        if worked < _ALONE * (time.perf_counter() - self._now):
            time.sleep(worked)
        self._worked, self._now = time.thread_time(), time.perf_counter()
