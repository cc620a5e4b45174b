"""Making many objects at once without the garbage collector looking through them again and again."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_users = 0


_OBJECTS, _YOUNG, _MIDDLE = 50_000, 20, 20
"""How many new objects are looked through at a time, and how often before older ones are; Python's own: 700, 10, 10."""


def collect_rarely() -> None:
    """Set the garbage collector of this process for one that serves: what lives from its start is left out.

    Events and records hold no cycles and die by themselves; looking through them took a third of writing events.
    """
    gc.freeze()
    gc.set_threshold(_OBJECTS, _YOUNG, _MIDDLE)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the cyclic garbage collector of the process; the last user of several lets it go on.

    Records hold no cycles, so its work on some ten thousand of them, a fifth of the time of reading a large closure,
    finds nothing. For short work only: cycles that others make meanwhile wait.
    """
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
