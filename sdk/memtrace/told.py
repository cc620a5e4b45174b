"""Recognises texts that the program got from elsewhere, in new objects; only the newest ones.

A message that ``memtrace evaluate`` told the program is recognised inside a longer text, such as ``[23 March] Ann:
...``. An argument of a model's tool call, which the program reads out of JSON, is recognised as a whole.
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
_SHORTEST_ARGUMENT = 12
"""A shorter argument, in characters, could equal anything."""
_NOTE = "told messages"
_ARGUMENTS = "arguments of tools"


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


def ask_for(trace: TraceState, text: str, reply: Variable) -> None:
    """Recognise an argument of a tool that a model's reply calls, from now on."""
    if len(text.strip()) >= _SHORTEST_ARGUMENT:
        asked: deque[tuple[str, Variable]] = trace.notes.setdefault(_ARGUMENTS, deque(maxlen=NEWEST))
        asked.append((text, reply))


def asked_for(trace: TraceState, text: str) -> Variable | None:
    """The newest reply that calls a tool with this text; None if none does."""
    return next((reply for said, reply in reversed(trace.notes.get(_ARGUMENTS, ())) if said == text), None)
