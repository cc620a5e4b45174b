"""What runs where nothing is recorded, though the application meant it to be: told once, with the line."""

from __future__ import annotations

import threading
from collections import Counter

from memtrace.config import is_recording
from memtrace.context import unsampled
from memtrace.faults import warn
from memtrace.mistakes import place

_open: Counter[int] = Counter()
"""How many traces are open, by the thread that opened them."""

_untold = {"outside a trace", "thread without a trace"}


def opened() -> int:
    """A trace was opened in this thread; ``closed`` takes what this returns."""
    thread = threading.get_ident()
    _open[thread] += 1
    return thread


def closed(thread: int) -> None:
    """A trace was closed that was opened in that thread."""
    _open[thread] -= 1
    if _open[thread] <= 0:
        del _open[thread]


def ran_outside(operation: str) -> None:
    """An operation runs in no trace. One that is not sampled is no mistake."""
    if not _untold or unsampled.get() is not None or not is_recording():
        return
    is_lost = bool(_open) and threading.get_ident() not in _open
    sort = "thread without a trace" if is_lost else "outside a trace"
    if sort not in _untold:
        return
    _untold.discard(sort)
    if is_lost:
        warn(
            sort,
            "operation %r%s is not recorded: it runs in a thread that has no trace, while one is open in another. "
            "A thread does not take the trace along: start it with memtrace.carry(function), or hand work to "
            "memtrace.executor(pool)",
            operation,
            _at(),
        )
        return
    warn(
        sort,
        "operation %r%s is not recorded: it runs outside any trace. Put what your application does for one user or "
        "run into `with memtrace.trace(name):`, or decorate the function that does it with @memtrace.trace(name)",
        operation,
        _at(),
    )


def _at() -> str:
    """The line of the application, where there is one: what is a thread's own function nobody has called."""
    line = place()
    return f" at {line}" if line else ""
