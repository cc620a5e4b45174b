"""Lets a conversation become a part of the trace of the memory that it uses, as long as its own trace is undecided.

A conversation begins with a call of a model, which knows no memory. Its events wait (``memtrace.undecided``) until the
conversation uses a memory or ends. Texts and objects decide outside of frameworks: what a model wrote, as an argument
of a tool or as a reply, is given to a memory. Where two conversations could be meant, none is joined.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import replace

from memtrace import context, steps, undecided
from memtrace.context import name_of
from memtrace.instruments import handed_out, homes
from memtrace.instruments.homes import Home
from memtrace.scripts import letters

SHORTEST = 12
"""Shortest text, in letters, that is recognised inside a reply, or as an argument in another thread."""
_MEMORIES = ("mem0", "everos", "langchain_core.vectorstores.base", "langgraph.store.base", "llama_index.core")
"""Modules of memories: a program that has imported none of them has no memory that a conversation could use."""

renaming: list[Callable[[str, str], None]] = [handed_out.rename]
"""What is told when a trace becomes a part of another one, both by id, beside ``memtrace.context``."""

last: ContextVar[str | None] = ContextVar("memtrace.handed_out", default=None)
"""The trace that gave out a value last in this context; decides between traces that gave out the same texts."""


def last_trace() -> str | None:
    """The trace that gave out a value last in this context, by its present id."""
    found = last.get()
    return None if found is None else name_of(found)


def opened(home: Home) -> Home:
    """The same home, undecided if it is new and the program may have a memory."""
    if steps.replaying is not None or not any(name in sys.modules for name in _MEMORIES):
        return home
    is_new = undecided.of(home.trace) is None and not context.state_of(home.trace).is_told
    return replace(home, is_open=True) if is_new else home


def is_open(trace: str) -> bool:
    """Whether a trace is undecided."""
    return undecided.of(trace) is not None


def join(trace: str, home: Home) -> None:
    """Make an undecided trace a part of a memory's trace."""
    whole = name_of(home.trace)
    if whole == trace:
        undecided.settle(trace)
        return
    undecided.join(trace, whole, lambda state: homes.beginning(state, home))
    for rename in renaming:
        rename(trace, whole)


def used_by(given: Iterable[object], home: Home) -> Home:
    """The home of a call of a memory; a conversation that made what the call is given becomes a part of its trace."""
    if undecided.is_any():
        made = _maker([one for one in handed_out.leaves(list(given)) if isinstance(one, str)])
        if made is not None:
            join(made, home)
    return home


def wrote(trace: str, arguments: Iterable[str]) -> None:
    """Note the arguments of tools that a model has written; without any, its trace waits for a short time only."""
    waiting = undecided.of(trace)
    if waiting is None:
        return
    waiting.arguments = {one for one in arguments if one.strip()}
    if waiting.arguments:
        undecided.goes_on(trace)
    else:
        undecided.ended(trace)


def replied(trace: str, text: str) -> None:
    """Note a text that a model of the trace has replied, or that the program made from a reply."""
    waiting = undecided.of(trace)
    if waiting is not None and letters(text) >= SHORTEST:
        waiting.replies.append(text)


def _maker(values: list[str]) -> str | None:
    """The only undecided trace that made one of the values; None if several could have made it.

    A part of a reply counts only in the thread or task of the reply: another user may say the same words.
    """
    found: dict[str, bool] = {}
    here = last_trace()
    for value in values:
        given = handed_out.same_object(value)
        if given is not None and given.proof != "nothing":
            if is_open(name_of(given.trace)):
                found[name_of(given.trace)] = True
            continue  # the object tells: no other trace made it
        is_long = letters(value) >= SHORTEST
        elsewhere = {name_of(trace) for trace in handed_out.traces_of(value)} if is_long else set()
        for waiting in undecided.all_of():
            trace = waiting.trace.id
            is_said = is_long and trace == here and any(value in reply for reply in waiting.replies)
            if value in waiting.arguments or is_said:
                is_sure = is_long and elsewhere <= {trace}
                found[trace] = found.get(trace, False) or is_sure
    if here in found:
        return here
    return next(iter(found)) if len(found) == 1 and all(found.values()) else None
