"""Where events go: to the exporter that is configured."""

from __future__ import annotations

from collections.abc import Callable

from memtrace.raw_events import RawEvent


def _nowhere(events: list[RawEvent]) -> None:
    """There is no exporter."""


send: Callable[[list[RawEvent]], None] = _nowhere
"""Hands events over to the exporter. Look it up at each use, for ``set_sink`` replaces it."""

is_whole = False
"""Whether the exporter wants each value as a whole, also where little of it is new."""


def set_sink(to: Callable[[list[RawEvent]], None], *, wants_whole: bool = False) -> None:
    """From now on, hand events over to ``to``; ``wants_whole`` is what ``is_whole`` becomes."""
    global send, is_whole
    send, is_whole = to, wants_whole


def emit(events: list[RawEvent]) -> None:
    """Hand events over to the exporter."""
    send(events)
