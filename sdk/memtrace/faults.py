"""Counts what goes wrong inside the recorder, and logs it once for each line; it never raises in the application."""

from __future__ import annotations

import logging
import threading
from collections import Counter

from memtrace.mistakes import MistakeError, place

log = logging.getLogger("memtrace")

MAX_TOLD = 200
"""Number of failures that are logged, one for each place; further failures are only counted."""

_counts: Counter[str] = Counter()
_told: set[tuple[str, str]] = set()
_said: set[str] = set()
_lock = threading.Lock()


def report(what: str, error: BaseException) -> None:
    """Count a failure of ``what``. The first failure at each line of the application is logged, without any value.

    The message is logged only for a ``MistakeError``, whose message shows no more of a value than a masked beginning.
    """
    line = place()
    with _lock:
        _counts[what] += 1
        is_new = (what, line) not in _told and len(_told) < MAX_TOLD
        if is_new:
            _told.add((what, line))
    if is_new:
        at = f" at {line}" if line else ""
        reason = str(error) if isinstance(error, MistakeError) else _raised(error)
        log.warning("%s failed%s (%s); further failures there are only counted", what, at, reason)
        log.debug("%s failed", what, exc_info=error)


def _raised(error: BaseException) -> str:
    """The type of an error and the code that raised it, such as a method of the application's own object."""
    last = error.__traceback__
    if last is None:
        return type(error).__name__
    while last.tb_next is not None:
        last = last.tb_next
    code = last.tb_frame.f_code
    return f"{type(error).__name__}, raised in {code.co_qualname} at {code.co_filename}:{last.tb_lineno}"


def count(what: str) -> None:
    """Count a failure that is logged elsewhere."""
    with _lock:
        _counts[what] += 1


def warn(sort: str, text: str, *said: object) -> None:
    """Log advice to the application, once in this process for each ``sort`` of advice."""
    with _lock:
        if sort in _said:
            return
        _said.add(sort)
    log.warning(text, *said)


def counts() -> dict[str, int]:
    """How often each thing went wrong in this process: failures, and operations that ran outside a trace."""
    with _lock:
        return dict(_counts)
