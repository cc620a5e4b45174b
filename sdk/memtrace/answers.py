"""What an application learns later: that an answer was wrong."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from typing import Any

from memtrace.compact import FEEDBACK
from memtrace.config import is_ready, is_sampled
from memtrace.context import TraceState, scope, state_of, unsampled
from memtrace.faults import report
from memtrace.identity import Variable
from memtrace.kinds import MAX_SAID, MAX_SAID_CHARACTERS
from memtrace.mistakes import MistakeError, shown
from memtrace.record import emit

_ID = re.compile(r"[0-9a-f]{32}")
"""Of a variable: see ``memtrace.ids``."""


def feedback(
    answer: object,
    gold: str | Iterable[str] = (),
    evidence: Iterable[object] = (),
    comment: str | None = None,
    *,
    question: object = None,
    trace: str | None = None,
) -> None:
    """Say that an answer was wrong: it becomes a failure, which can be attributed.

    Said again of the same answer, it adds to what is known: gold answers and evidence that are given take the place of
    those before.

    Args:
        answer: the answer: a known value, its variable, its name, or the variable's ``id``, as ``find`` gave it when
            the answer was made; the id is good for ever, and in other processes.
        gold: what would have been right: a text or several.
        evidence: the messages that say it: known values, their variables, names or ids.
        comment: anything for people to read.
        question: what was asked, where the platform can't find it from the answer: the same as ``answer``.
        trace: the id of the answer's trace, where this is not said inside it.
    """
    try:
        state = _trace(trace)
        if state is None:
            return
        wrong = _variable(state, answer)
        asked = None if question is None else _variable(state, question)
        said = {
            "gold": [text[:MAX_SAID_CHARACTERS] for text in _listed(gold)][:MAX_SAID],
            "evidence": list(_evidence(state, evidence))[:MAX_SAID],
            "comment": comment and comment[:MAX_SAID_CHARACTERS],
        }
        more = {name: item for name, item in said.items() if item}
        emit([(FEEDBACK, more, state.id, time.time_ns(), _id(wrong), _question(wrong, asked))])
    except Exception as error:
        report("feedback", error)


def _trace(id_: str | None) -> TraceState | None:
    """The trace that is meant; None where it is not recorded."""
    if id_ is None:
        here = scope.get()
        if here is None and unsampled.get() is None and is_ready():
            raise MistakeError("this is said outside its trace: name that (trace=...)")
        return None if here is None else here.trace
    return state_of(id_) if is_ready() and is_sampled(id_) else None


def _evidence(state: TraceState, said: object) -> Iterator[str]:
    """The ids of what is known; the others are told, and keep nothing else out."""
    for item in _listed(said):
        try:
            yield _id(_variable(state, item))
        except MistakeError as mistake:
            report("evidence of feedback", mistake)


def _variable(state: TraceState, value: object) -> Variable | str:
    """The variable that is meant, or the id of one that this process does not know."""
    if isinstance(value, Variable):
        return value
    known = state.identities.find(value)
    if known is not None:
        return known[0]
    if isinstance(value, str):
        named = state.identities.named(value)
        if named is not None:
            return named
        if _ID.fullmatch(value):
            return value
    raise MistakeError(f"{shown(value)} is no known variable of the trace, nor the name or id of one")


def _listed(said: Any) -> list[Any]:
    return [said] if isinstance(said, str) else list(said)


def _id(variable: Variable | str) -> str:
    return variable if isinstance(variable, str) else variable.id


def _question(answer: Variable | str, asked: Variable | str | None) -> str | None:
    """The id of what was asked, where this process knows it; else the platform looks into the graph."""
    if asked is not None:
        return _id(asked)
    if isinstance(answer, Variable) and len(answer.questions) == 1:
        (only,) = answer.questions
        return only
    return None
