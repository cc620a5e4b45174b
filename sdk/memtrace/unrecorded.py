"""Counts operations that run outside any trace and so are not recorded; logs the first one of each sort."""

from __future__ import annotations

import threading
from collections import Counter

from memtrace.config import is_recording
from memtrace.context import unsampled
from memtrace.faults import count, warn
from memtrace.mistakes import place

_open: Counter[int] = Counter()
"""Number of open traces, by the thread that opened them."""

OUTSIDE = "operation outside a trace"
IN_THREAD = "operation in a thread without a trace"
"""Names of the counts in ``fault_counts``."""

_untold = {OUTSIDE, IN_THREAD}


def opened() -> int:
    """Count a trace that was opened in this thread; returns the thread's id, for ``closed``."""
    thread = threading.get_ident()
    _open[thread] += 1
    return thread


def closed(thread: int) -> None:
    """Count a closed trace that was opened in this thread."""
    _open[thread] -= 1
    if _open[thread] <= 0:
        del _open[thread]


def ran_outside(operation: str) -> None:
    """Count an operation that ran outside a trace. Operations that sampling leaves out do not count."""
    if unsampled.get() is not None or not is_recording():
        return
    lost = IN_THREAD if _open and threading.get_ident() not in _open else OUTSIDE
    count(lost)
    if lost not in _untold:
        return
    _untold.discard(lost)
    if lost == IN_THREAD:
        warn(
            lost,
            "operation %r%s is not recorded: it runs in a thread that has no trace, while one is open in another. "
            "A thread does not take the trace along: start it with memtrace.carry(function), or hand work to "
            "memtrace.executor(pool). Further ones are only counted (memtrace.fault_counts())",
            operation,
            _at(),
        )
        return
    warn(
        lost,
        "operation %r%s is not recorded: it runs outside any trace. Put what your application does for one user or "
        "run into `with memtrace.trace(name):`, or decorate the function that does it with @memtrace.trace(name). "
        "Further ones are only counted (memtrace.fault_counts())",
        operation,
        _at(),
    )


def _at() -> str:
    """The line of the application; empty if a thread runs the operation directly, without a caller."""
    line = place()
    return f" at {line}" if line else ""
