"""What nodes and functions do to the history of a conversation: they drop messages, or put a summary in their place.

The reducer of a graph's state decides what a returned list means. ``RemoveMessage``, and messages under another key
than the one that was read, are a rewritten history at once. A list under the same key adds to the history or replaces
it: what the next reader gets tells which.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import CodeType
from typing import Any

from memtrace.instruments.callers import is_application
from memtrace.instruments.frameworks import buffers
from memtrace.instruments.frameworks.buffers import Candidate
from memtrace.instruments.frameworks.messages import conversations, is_conversation, is_message, plain
from memtrace.instruments.frameworks.runs import Run
from memtrace.modules import module_name

MAX_CANDIDATES = 8
_MAX_FRAMES = 12
_REMOVE = "remove"
_ALL = "__remove_all__"


def returned(run: Run, outputs: Any) -> None:
    """Record the histories that a node or function rewrote.

    Args:
        run: the node or function, whose inputs have the history.
        outputs: what it returned.
    """
    given = list(conversations(run.inputs))
    if not given:
        return
    if run.kind != "node":
        if is_conversation(outputs):
            _rewrite(run, given, list(outputs))
        return
    for update in _updates(outputs):
        for key, value in update.items():
            messages = [value] if is_message(value) else value
            if not is_conversation(messages):
                continue
            before = next((one for name, one in given if name == key), None)
            if before is not None and any(one.type == _REMOVE for one in messages):
                _rewrite(run, [(key, before)], _applied(before, messages))
            elif before is None or _source(given, messages)[0] != key:
                _rewrite(run, given, list(messages))
            else:
                _may_replace(run, key, before, messages)


def _source(given: Sequence[tuple[str, Sequence[Any]]], messages: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """The given history with which messages share most."""
    value = [plain(one) for one in messages]
    return max(given, key=lambda one: buffers.change(buffers.spoken_of(one[1]), value).kept)


def _rewrite(run: Run, given: Sequence[tuple[str, Sequence[Any]]], messages: list[Any]) -> None:
    """Record new messages as a version of the given history with which they share most, if they lack any of it."""
    value = [plain(one) for one in messages]
    key, before = _source(given, messages)
    change = buffers.change(buffers.spoken_of(before), value)
    told = [plain(one) for one in before]
    change = replace(change, inserted=frozenset(place for place in change.inserted if value[place] not in told))
    if change.dropped and (change.kept or (len(given) == 1 and run.kind == "node")):
        around = run if run.making is not None and run.kind == "node" else None
        place = Run(run.root, around or run.parent, "history", run.name)
        known = buffers.version(place, key, before, is_state=True)
        buffers.rewrite(place, run.name, known, change, messages, location=_function())


def _applied(before: Sequence[Any], messages: Sequence[Any]) -> list[Any]:
    """The history after LangGraph's ``add_messages``."""
    for place, one in enumerate(messages):
        if one.type == _REMOVE and one.id == _ALL:
            return _applied([], messages[place + 1 :])
    merged = {one.id or f"object {id(one)}": one for one in before}
    for one in messages:
        if one.type == _REMOVE:
            merged.pop(one.id, None)
        else:
            merged[one.id or f"object {id(one)}"] = one
    return list(merged.values())


def _may_replace(run: Run, key: str, before: Sequence[Any], messages: Sequence[Any]) -> None:
    known = buffers.candidates(run)
    known.insert(0, Candidate(run.name, _function(), buffers.spoken_of(messages), key, before))
    del known[MAX_CANDIDATES:]


def _updates(outputs: Any) -> list[Mapping[str, Any]]:
    """The updates of a graph's state that a node returned, also as commands."""
    found: list[Mapping[str, Any]] = []
    for one in outputs if isinstance(outputs, list | tuple) and not is_conversation(outputs) else [outputs]:
        update = getattr(one, "update", None) if type(one).__name__ == "Command" else one
        if is_conversation(update):
            found.append({"messages": update})
        elif isinstance(update, Mapping):
            found.append(update)
    return found


def _function() -> str | None:
    """The first line of the application's function that the node around this code runs; None if it is a package's."""
    frame = sys._getframe(2)
    for _ in range(_MAX_FRAMES):
        owner = frame.f_locals.get("self")
        for step in getattr(owner, "steps", None) or () if type(owner).__name__ == "RunnableSeq" else ():
            function = getattr(step, "func", None) or getattr(step, "afunc", None)
            code = getattr(function, "__code__", None)
            module = str(getattr(function, "__module__", ""))
            if isinstance(code, CodeType) and is_application(module, code.co_filename):
                return f"{module_name(module)}:{code.co_firstlineno} {code.co_qualname}"
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return None
