"""Finds retrievals whose results derive from no message, so that no failure of their answers can be explained.

``memtrace check`` finds these retrievals in the store; this module looks at the state of this process, and tells the
application's log at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from memtrace.faults import warn
from memtrace.identity import Questions, Variable
from memtrace.raw_events import VALUE, VARIABLE, RawEvent
from memtrace.recent import Recent
from memtrace.steps import Step

MAX_LOOSE = 1_000
"""Number of kept retrievals that ``link``, or another search for the same question, may still connect."""

MAX_QUESTIONS = 20_000

_ID = 6
"""Place of the variable's id in the tuple of its event."""

_NOTHING = frozenset({"", "none", "null"})
_MARKS = " \t\r\n[]{}()\"',:."

_lock = threading.Lock()
_connected: Recent[Questions, bool] = Recent(MAX_QUESTIONS)
_loose: list[tuple[Questions, list[Variable]]] = []
_count = 0


def silent(events: Iterable[RawEvent]) -> set[str]:
    """Ids of variables whose text is empty, an empty list or a null value."""
    return {
        event[_ID]
        for event in events
        if event[0] == VARIABLE and event[VALUE].strip(_MARKS).casefold() in _NOTHING
    }  # fmt: skip


def searched(step: Step, nothing: set[str]) -> None:
    """Count a retrieval that ended with results; ``nothing`` are the ids of empty results."""
    global _count  # noqa: PLW0603 (one recorder a process)
    made = [variable for variable, _, _ in step.outputs]
    found = [one for one in made if one.kind != "RefinedQuery" and one.id not in nothing]
    if not found:
        return
    with _lock:
        _count += 1
        if any(one.has_message for one in made):
            if step.asked:
                _connected.get(step.asked)
                _connected.set(step.asked, True)
        elif len(_loose) < MAX_LOOSE:
            _loose.append((step.asked, made))


def tell() -> None:
    """Log once how many retrievals are not connected, if any."""
    with _lock:
        loose = sum(
            _connected.get(asked) is None and not any(one.has_message for one in made) for asked, made in _loose
        )
    if loose:
        warn(
            "retrievals that are not connected",
            "%d of %d retrievals are not connected to memory, so that wrong answers can't be traced to what was said: "
            'record units with memtrace.variable(..., kind="MemoryUnit") where a message is stored, in an operation '
            "that has the message as its argument, and return those values from the search, or name them with "
            "memtrace.retrieved(query, considered, returned)",
            loose,
            _count,
        )


def forget() -> None:
    """Forget all counts, in a child process or for another exporter."""
    global _connected, _count, _lock, _loose
    # A new lock: at a fork, a thread that does not exist in the child may hold the old one.
    _lock, _connected, _loose, _count = threading.Lock(), Recent(MAX_QUESTIONS), [], 0
