"""Switches instruments on when Python starts, if ``MEMTRACE_INSTRUMENT`` asks for them.

The file ``memtrace_recorder.pth`` beside the installed package imports this module if the variable is set: Python runs
``.pth`` files before the application. ``all`` stands for every instrument.
"""

from __future__ import annotations

import os


def start() -> None:
    """Switch on the instruments of ``MEMTRACE_INSTRUMENT``. A wrong name is logged, and the application runs."""
    names = [name.strip() for name in os.environ.get("MEMTRACE_INSTRUMENT", "").split(",") if name.strip()]
    if not names:
        return
    from memtrace.faults import warn
    from memtrace.instruments import instrument

    try:
        instrument(*([] if names == ["all"] else names))
    except ValueError as error:
        warn("MEMTRACE_INSTRUMENT", "MEMTRACE_INSTRUMENT: %s", error)
