"""Lets other threads run during a long computation in a thread."""

from __future__ import annotations

import time

_STEPS = 50
_SLICE_SECONDS = 0.004
_ALONE = 0.8
"""A thread that gets at least this share of the time is alone: no other thread wants to run."""


class ProcessorShare:
    """Pauses a long computation when other threads want to run.

    Threads take turns with the interpreter: a thread that computes for seconds gets as many turns as a thread that
    answers a request in a millisecond. So a long computation that had to wait for its turns sleeps for as long as it
    has worked.
    """

    def __init__(self) -> None:
        """Begin to count; call the constructor in the thread that computes."""
        self._steps = 0
        self._worked, self._now = time.thread_time(), time.perf_counter()

    def step(self, steps: int = 1) -> None:
        """Count ``steps`` steps of a few microseconds each, and sleep if other threads want to run."""
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
