"""What goes wrong inside the recorder: counted, told once, never raised into the application."""

from __future__ import annotations

import logging
import threading
from collections import Counter

log = logging.getLogger("memtrace")

_counts: Counter[str] = Counter()
_lock = threading.Lock()


def report(place: str, error: BaseException) -> None:
    """Count a failure at ``place``; the first one there is logged, without any value of the application."""
    with _lock:
        _counts[place] += 1
        is_first = _counts[place] == 1
    if is_first:
        log.warning("%s failed (%s); further failures there are only counted", place, type(error).__name__)
        log.debug("%s failed", place, exc_info=error)


def counts() -> dict[str, int]:
    """How often each part of the recorder has failed in this process."""
    with _lock:
        return dict(_counts)
