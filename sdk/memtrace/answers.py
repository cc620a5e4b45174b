"""Feedback: what an application learns about an answer later, that it was wrong or right."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator

from memtrace.config import is_ready, is_sampled
from memtrace.context import scope, state_of, unsampled
from memtrace.faults import report
from memtrace.identity import Variable
from memtrace.kinds import MAX_ID_CHARACTERS, MAX_SAID, MAX_SAID_CHARACTERS
from memtrace.mistakes import MistakeError, shown
from memtrace.raw_events import FEEDBACK
from memtrace.sink import emit
from memtrace.steps import TraceState

_ID = re.compile(r"[0-9a-f]{32}")
"""The form of a variable's id; see ``memtrace.ids``."""


def feedback(
    answer: object,
    gold: str | Iterable[str] = (),
    evidence: Iterable[object] = (),
    comment: str | None = None,
    *,
    question: object = None,
    trace: str | None = None,
    right: bool = False,
) -> None:
    """Say that an answer was wrong, or with ``right`` that it was right. A wrong answer becomes a failure.

    If feedback on the same answer is given again, its gold answers and evidence replace the earlier ones.

    This function does not check whether an id, or a name of another process, exists. The platform finds out when it
    writes the event, after ``flush`` has counted the event as sent. An event with an unknown id or name becomes a dead
    letter (``memtrace dlq list``).

    Args:
        answer: the answer: a known value, its variable, its name, or the ``id`` of its variable, which ``find`` gave
            when the answer was made. The id stays valid, also in other processes.
        gold: the right answer, or several texts that are each right.
        evidence: the messages that tell the right answer: known values, their variables, names or ids.
        comment: anything for people to read.
        question: what was asked, in the same form as ``answer``; needed only if the platform can't find the question
            from the answer.
        trace: the id of the answer's trace; needed only outside the trace. In a process that has recorded nothing of
            the trace, a text of at most 200 characters is an id or a name (or ``name@version``). The platform looks
            the name up: only one variable of the trace may have it.
        right: whether the answer was right. If True, the other arguments are not kept. An answer that was called wrong
            stays wrong; an answer that was called right may be called wrong later.
    """
    try:
        if not isinstance(right, bool):
            raise MistakeError(f"right must be True or False, got {shown(right)}")
        state = _trace(trace)
        if state is None:
            return
        # Another process recorded the trace: the platform finds the names that are used here.
        elsewhere = trace is not None and state.identities.is_empty
        judged = _variable(state, answer, elsewhere)
        asked = None if question is None else _variable(state, question, elsewhere)
        said = {
            "gold": [_text("gold", text) for text in _listed("gold", gold)][:MAX_SAID],
            "evidence": list(_evidence(state, evidence, elsewhere))[:MAX_SAID],
            "comment": comment and _text("comment", comment),
            "right": right,
        }
        more = {name: item for name, item in said.items() if item}
        emit([(FEEDBACK, more, state.id, time.time_ns(), _id(judged), _question(judged, asked))])
    except Exception as error:
        report("feedback", error)


def _trace(id_: str | None) -> TraceState | None:
    """The state of the named or current trace; None if the trace is not recorded."""
    if id_ is None:
        here = scope.get()
        if here is None and unsampled.get() is None and is_ready():
            raise MistakeError("this is said outside its trace: name that (trace=...)")
        return None if here is None else here.trace
    return state_of(id_) if is_ready() and is_sampled(id_) else None


def _evidence(state: TraceState, said: object, elsewhere: bool) -> Iterator[str]:
    """The ids of the known messages. Unknown messages are reported and left out."""
    for item in _listed("evidence", said):
        try:
            yield _id(_variable(state, item, elsewhere))
        except MistakeError as mistake:
            report("evidence of feedback", mistake)


def _variable(state: TraceState, value: object, elsewhere: bool) -> Variable | str:
    """The variable of a value, or the id or name of a variable that this process does not know."""
    if isinstance(value, Variable):
        return value
    known = state.identities.find(value)
    if known is not None:
        return known[0]
    if isinstance(value, str):
        named = state.identities.named(value)
        if named is not None:
            return named
        if _ID.fullmatch(value) or (elsewhere and 0 < len(value) <= MAX_ID_CHARACTERS):
            return value
    raise MistakeError(f"{shown(value)} is no known variable of the trace, nor the name or id of one")


def _listed(what: str, said: object) -> list[object]:
    if isinstance(said, str):
        return [said]
    if not isinstance(said, Iterable):
        raise MistakeError(f"{what} must be a list or a text, got {shown(said)}")
    return list(said)


def _text(what: str, said: object) -> str:
    if not isinstance(said, str):
        raise MistakeError(f"{what} must be a text, got {shown(said)}")
    return said[:MAX_SAID_CHARACTERS]


def _id(variable: Variable | str) -> str:
    return variable if isinstance(variable, str) else variable.id


def _question(answer: Variable | str, asked: Variable | str | None) -> str | None:
    """The id of the question, if this process knows it; otherwise the platform looks for it in the graph."""
    if asked is not None:
        return _id(asked)
    if isinstance(answer, Variable) and len(answer.questions) == 1:
        (only,) = answer.questions
        return only
    return None
