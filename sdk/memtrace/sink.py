"""Passes events on to the configured exporter."""

from __future__ import annotations

from collections.abc import Callable

from memtrace.raw_events import RawEvent


def _nowhere(events: list[RawEvent]) -> None:
    """There is no exporter."""


send: Callable[[list[RawEvent]], None] = _nowhere
"""Passes events on to the exporter. Look it up at each use, because ``set_sink`` replaces it."""

is_whole = False
"""Whether the exporter wants each value whole, even if little of it is new."""


def set_sink(to: Callable[[list[RawEvent]], None], *, wants_whole: bool = False) -> None:
    """From now on, pass events on to ``to``; ``is_whole`` becomes ``wants_whole``."""
    global send, is_whole
    send, is_whole = to, wants_whole


def emit(events: list[RawEvent]) -> None:
    """Pass events on to the exporter."""
    send(events)
