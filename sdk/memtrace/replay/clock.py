"""The clock of a replay: time goes on from the moment of the recording, if ``time-machine`` is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime


@contextmanager
def clock_from(nanoseconds: int | None) -> Iterator[bool]:
    """Let time go on from a moment (nanoseconds since 1970, UTC); yields False if that is impossible."""
    try:
        import time_machine
    except ImportError:
        yield False
        return
    if nanoseconds is None:
        yield False
        return
    with time_machine.travel(datetime.fromtimestamp(nanoseconds / 1e9, UTC), tick=True):
        yield True
