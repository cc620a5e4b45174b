"""Settings of Python's cyclic garbage collector, which otherwise scans many new objects again and again."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_users = 0
_serves = False
_large = 0
_usual = gc.get_threshold()
_put_off_since = 0.0

_OBJECTS, _YOUNG, _MIDDLE = 10_000, 3, 20
"""The thresholds of the three generations; Python's own are 700, 10 and 10.

A collection stops all threads of the process, for up to a microsecond an object. With these thresholds a collection of
the first generation takes 10 ms at most, of the second 50 ms. The third scans all objects made since the start that are
alive, few in a server; without the third, older cycles would stay for ever.
"""

_NEVER = 1 << 30
_MOST_SECONDS = 60
"""The longest time for which overlapping large requests put off full collections."""


def collect_rarely() -> None:
    """Set up the garbage collector for a server; objects that exist now are never scanned again.

    Events and records hold no cycles and are freed without the collector, but collections took a third of the time of
    writing events. From now on ``collector_paused`` does nothing: a server always has requests under way, so the end of
    a pause would scan all new objects at once while all requests wait.
    """
    global _serves  # noqa: PLW0603 (one word for the one collector of the process)
    _serves = True
    gc.freeze()
    gc.set_threshold(_OBJECTS, _YOUNG, _MIDDLE)


@contextmanager
def full_looks_put_off() -> Iterator[None]:
    """Put off full collections while a request keeps some hundred thousand objects alive for seconds.

    A full collection would stop all threads for a quarter of a second and find nothing to free. The collection takes
    place when the last large request has ended, or once a minute if large requests overlap.
    """
    global _large, _usual, _put_off_since  # noqa: PLW0603 (one state for the one collector of the process)
    with _lock:
        if not _large:
            _usual, _put_off_since = gc.get_threshold(), time.monotonic()
            gc.set_threshold(_usual[0], _usual[1], _NEVER)
        _large += 1
    try:
        yield
    finally:
        with _lock:
            _large -= 1
            if not _large:
                gc.set_threshold(*_usual)
            is_due = _large > 0 and time.monotonic() - _put_off_since > _MOST_SECONDS
            if is_due:
                _put_off_since = time.monotonic()
        if is_due:
            gc.collect()


@contextmanager
def collector_paused(stays: bool = False) -> Iterator[None]:
    """Pause the cyclic garbage collector of the process until the last of several users is done.

    Records hold no cycles, but collections take a fifth of the time of reading a large closure. Only for short work:
    meanwhile nobody's cycles are freed. Does nothing in a server; see ``collect_rarely``.

    Args:
        stays: whether the objects that exist at the end are never scanned again.
    """
    if _serves:
        yield
        return
    global _users  # noqa: PLW0603 (one count for the one collector of the process)
    with _lock:
        if not gc.isenabled() and not _users:
            is_ours = False
        else:
            is_ours = True
            _users += 1
            gc.disable()
    try:
        yield
    finally:
        if is_ours:
            with _lock:
                _users -= 1
                if stays:
                    gc.freeze()
                if not _users:
                    gc.enable()
