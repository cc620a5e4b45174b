"""Passes events on to the configured exporter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from memtrace.raw_events import RawEvent


class Waiting(Protocol):
    """Keeps events that wait in memory on disk as well, in case the process is killed."""

    def keep(self, trace_id: str, events: list[RawEvent]) -> None:
        """Add events of a trace that waits."""

    def release(self, trace_id: str) -> None:
        """Forget the events of a trace that waits no longer."""


def _nowhere(events: list[RawEvent]) -> None:
    """There is no exporter."""


send: Callable[[list[RawEvent]], None] = _nowhere
"""Passes events on to the exporter. Look it up at each use, because ``set_sink`` replaces it."""

is_whole = False
"""Whether the exporter wants each value whole, even if little of it is new."""

export: Callable[[list[RawEvent]], None] = _nowhere
"""Pass events on past the gate."""

waiting: Waiting | None = None
"""Where events that wait are kept; None if the exporter has no place for them."""

_gate: Callable[[list[RawEvent]], list[RawEvent]] | None = None


def set_sink(
    to: Callable[[list[RawEvent]], None], *, wants_whole: bool = False, keeps_waiting: Waiting | None = None
) -> None:
    """From now on, pass events on to ``to``; ``is_whole`` and ``waiting`` become the other arguments."""
    global send, is_whole, export, waiting  # noqa: PLW0603 (one recorder a process)
    export, is_whole, waiting = to, wants_whole, keeps_waiting
    send = to if _gate is None else _through_gate


def set_gate(gate: Callable[[list[RawEvent]], list[RawEvent]] | None) -> None:
    """From now on, ask ``gate`` which events are passed on, in which form; None means all, as they are."""
    global send, _gate  # noqa: PLW0603 (one recorder a process)
    _gate = gate
    send = export if gate is None else _through_gate


def _through_gate(events: list[RawEvent]) -> None:
    passed = events if _gate is None else _gate(events)
    if passed:
        export(passed)


def emit(events: list[RawEvent]) -> None:
    """Pass events on to the exporter."""
    send(events)
