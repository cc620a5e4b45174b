"""Conversations that are handed to a model whole: one buffer each, which grows by a version a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtrace.identity import Variable
from memtrace.instruments.langchain.flow import message
from memtrace.instruments.langchain.messages import plain
from memtrace.instruments.langchain.runs import Run
from memtrace.instruments.making import Making

_Buffers = dict[str, tuple[list[dict[str, Any]], Variable]]


def buffer(run: Run, key: str, messages: Sequence[Any]) -> Variable:
    """The version of the conversation's buffer that has these messages; a new one derives from the one before."""
    here = run.here
    buffers: _Buffers = here.trace.notes.setdefault("buffers", {})
    name = f"{key} of {run.root.session}" if run.root.session else key
    place = name if run.root.session else f"{name} {id(run.root)}"
    value = [plain(one) for one in messages]
    before = buffers.get(place)
    if before is not None and before[0] == value:
        made = before[1]
    else:
        kept = 0 if before is None else _common(before[0], value)
        # What the messages are is found first: writing a prompt is an operation of its own.
        new = [message(run, one) for one in messages[kept:]]
        appending = Making(here, "append messages", "Update")
        for one in new:
            appending.use(one, "message")
        made = appending.make(value, name, "Buffer", revises=None if before is None else before[1])
        appending.end()
        buffers[place] = value, made
    for one in messages:
        run.root.buffers[id(one)] = one, made
    return made


def _common(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> int:
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return place
    return min(len(first), len(second))
