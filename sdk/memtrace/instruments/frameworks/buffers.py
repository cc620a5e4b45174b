"""A conversation that a model gets whole is one buffer: each turn makes a new version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtrace.identity import Variable
from memtrace.instruments.frameworks.messages import plain
from memtrace.instruments.frameworks.runs import Run
from memtrace.instruments.frameworks.values import message
from memtrace.instruments.making import Making

MAX_EARLIER = 4
"""Number of buffers of a conversation that may grow: a program may ask other things between two turns."""

_Buffers = dict[str, list[tuple[list[dict[str, Any]], Variable]]]


def buffer(run: Run, key: str, messages: Sequence[Any]) -> Variable:
    """The version of the conversation's buffer with these messages.

    If the messages begin like an earlier version, the new version derives from the earlier version. Otherwise the
    messages are the only sources: a part of the conversation that was left out is no source.
    """
    here = run.here
    buffers: _Buffers = here.trace.notes.setdefault("buffers", {})
    name = f"{key} of {run.root.session}" if run.root.session else key
    place = name if run.root.session else f"{name} {id(run.root)}"
    value = [plain(one) for one in messages]
    earlier = buffers.setdefault(place, [])
    begun = max((one for one in earlier if value[: len(one[0])] == one[0]), key=lambda one: len(one[0]), default=None)
    if begun is not None and len(begun[0]) == len(value):
        made = begun[1]
    else:
        # The messages come first, because finding one may write another operation, which makes a prompt.
        new = [message(run, one) for one in messages[0 if begun is None else len(begun[0]) :]]
        appending = Making(here, "append messages", "Update")
        for one in new:
            appending.use(one, "message")
        made = appending.make(value, name, "Buffer", revises=None if begun is None else begun[1])
        appending.end()
        if begun in earlier:
            earlier.remove(begun)
        earlier.append((value, made))
        del earlier[:-MAX_EARLIER]
    for one in messages:
        run.root.buffers[id(one)] = one, made
    return made
