"""Switches instruments on when Python starts, if ``MEMTRACE_INSTRUMENT`` asks for them.

The file ``memtrace_recorder.pth``, which is installed beside the package, imports this module where the variable is
set: Python runs such files before the application. ``all`` stands for every instrument.
"""

from __future__ import annotations

import os


def start() -> None:
    """Switch on what the environment names; a mistake in it is told, and the application runs all the same."""
    names = [name.strip() for name in os.environ.get("MEMTRACE_INSTRUMENT", "").split(",") if name.strip()]
    if not names:
        return
    from memtrace.faults import warn
    from memtrace.instruments import instrument

    try:
        instrument(*([] if names == ["all"] else names))
    except ValueError as error:
        warn("MEMTRACE_INSTRUMENT", "MEMTRACE_INSTRUMENT: %s", error)
