"""The text of a message as the ready-made programs store it: with speaker and date, as most systems' own runs do.

``MEMTRACE_PROGRAM_PLAIN=1`` leaves both out.
"""

from __future__ import annotations

import os
from datetime import datetime

import memtrace
from memtrace.program.protocol import Message

PLAIN = "MEMTRACE_PROGRAM_PLAIN"


def is_plain() -> bool:
    """Whether messages and questions are used without speaker and date."""
    return os.environ.get(PLAIN, "").strip().lower() not in {"", "0", "false", "no", "off"}


def with_heading(message: Message) -> str:
    """``Ann (2026-03-01 09:00): text``; the recorder knows the result as the message."""
    if is_plain():
        return message.text
    said_at = f" ({message.time:%Y-%m-%d %H:%M})" if message.time else ""
    return memtrace.bind(f"{message.speaker}{said_at}: {message.text}", message.text)


def with_date(question: str, time: datetime | None) -> str:
    """The question, with its date if there is one."""
    return question if time is None or is_plain() else f"{question} (asked on {time:%Y-%m-%d})"
