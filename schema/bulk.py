"""Making many objects at once without the garbage collector looking through them again and again."""

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
"""How many new objects are looked through at a time, and how often before older ones are; Python's own: 700, 10, 10.

A look stops all threads of the process, for up to a microsecond an object: the first takes 10 ms at most, the second,
at what came since the last such one, 50 ms. The third looks at all that came since the start and still lives, which is
little in a server; without it, the cycles of documents that were read while the others looked would stay for ever.
"""

_NEVER = 1 << 30
_MOST_SECONDS = 60
"""What full looks are put off for, where large requests never leave a pause."""


def collect_rarely() -> None:
    """Set the garbage collector of this process for one that serves: what lives from its start is left out.

    Events and records hold no cycles and die by themselves; looking through them took a third of writing events. Nor
    does ``collector_paused`` pause it any more: what many requests make meanwhile, and with some request always under
    way, would be looked through all at once afterwards, and all requests would stand still for it.
    """
    global _serves  # noqa: PLW0603 (one word for the one collector of the process)
    _serves = True
    gc.freeze()
    gc.set_threshold(_OBJECTS, _YOUNG, _MIDDLE)


@contextmanager
def full_looks_put_off() -> Iterator[None]:
    """While one request keeps some hundred thousand objects alive for seconds, don't look through all that live.

    A full look would stop all threads for a quarter of a second, and find nothing in them. It comes when the last such
    request has ended; where they never leave a pause, all the same once a minute.
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
def collector_paused() -> Iterator[None]:
    """Pause the cyclic garbage collector of the process; the last user of several lets it go on.

    Records hold no cycles, so its work on some ten thousand of them, a fifth of the time of reading a large closure,
    finds nothing. For short work only: cycles that others make meanwhile wait. See ``collect_rarely`` for those that
    serve.
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
                if not _users:
                    gc.enable()
