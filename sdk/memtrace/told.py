"""Recognises a message that the program has written into a longer text, such as ``[23 March] Ann: ...``.

Only messages that ``memtrace evaluate`` told the program are recognised, and only the newest ones.
"""

from __future__ import annotations

from collections import deque

from memtrace.identity import Variable
from memtrace.steps import TraceState

NEWEST = 64
"""The number of messages that are recognised."""
LONGEST_HEADING = 200
"""The program's own words around a message, at most this many characters: a longer text is no single message."""
_SHORTEST = 3
"""A shorter message, in characters, could be in any text by chance."""
_NOTE = "told messages"


def tell(trace: TraceState, text: str, message: Variable) -> None:
    """Recognise a message from now on."""
    told: deque[tuple[str, Variable]] = trace.notes.setdefault(_NOTE, deque(maxlen=NEWEST))
    told.append((text.strip(), message))


def told_inside(trace: TraceState, text: str) -> Variable | None:
    """The message that a text contains with few words around; of several messages the longest, then the newest."""
    best, length = None, _SHORTEST - 1
    for said, message in reversed(trace.notes.get(_NOTE, ())):
        if length < len(said) <= len(text) <= len(said) + LONGEST_HEADING and said in text:
            best, length = message, len(said)
    return best
