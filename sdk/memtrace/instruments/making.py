"""Writes operations that begin in one call of a package and end in another.

Between the two calls nothing is attached to the context, because the beginning and the end may run in different
contexts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memtrace import empty_searches
from memtrace.context import question, scope
from memtrace.identity import NO_QUESTIONS, Questions, Variable
from memtrace.instruments import placing
from memtrace.instruments.callers import line
from memtrace.instruments.texts import texts
from memtrace.kinds import MAX_NAME_CHARACTERS
from memtrace.raw_events import SESSION, RawEvent
from memtrace.record import declare
from memtrace.sink import emit
from memtrace.steps import Scope, Step
from memtrace.unconnected import searched
from memtrace.values import snapshot

_CANCELLED = {"CancelledError", "GeneratorExit", "GraphInterrupt", "NodeInterrupt", "GraphBubbleUp", "ParentCommand"}
"""Exceptions that count as a cancellation, by name. LangGraph raises them if a graph waits for a person or goes on
elsewhere."""


def asked_here() -> Questions:
    """The newest question of this context."""
    current = question.get()
    return NO_QUESTIONS if current is None else frozenset((current,))


class Making:
    """One operation of a package."""

    def __init__(
        self,
        here: Scope,
        name: str,
        kind: str,
        *,
        attributes: Mapping[str, Any] | None = None,
        category: str | None = None,
        location: str | None = None,
    ) -> None:
        """Begin the operation inside ``here``, a place or another operation.

        Args:
            here: the place.
            name: of the operation.
            kind: an ``OperationKind``.
            attributes: such as a model's name.
            category: the package's word for the kind.
            location: the line of code; the default is the application's line that runs now.
        """
        self.here = here
        self.step = step = Step(here, (name[:MAX_NAME_CHARACTERS] or "operation", kind))
        said = {word: item for word, item in (("category", category), ("attributes", attributes)) if item}
        step.begin(location or line(), said or None, [()])
        self._is_over = False

    def use(self, variable: Variable, role: str | None = None, *, is_input: bool = True) -> Variable:
        """Record that the operation uses a variable; each input is recorded once. Returns the variable."""
        if is_input and self.step.has_input(variable):
            return variable
        events: list[RawEvent] = []
        self.step.use(events, variable, role, is_input=is_input)
        emit(events)
        return variable

    def take(
        self, value: object, name: str, kind: str, *, role: str | None = None, said: Mapping[str, Any] | None = None
    ) -> Variable:
        """It uses a value that came from outside."""
        made = outside(self.here, value, name, kind, said=said)
        return self.use(made, role or name)

    def make(
        self,
        value: object,
        name: str,
        kind: str,
        *,
        sources: Iterable[Variable] | None = None,
        reads: Variable | None = None,
        revises: Variable | None = None,
        said: Mapping[str, Any] | None = None,
        is_learned: bool = True,
    ) -> Variable:
        """Record a value that the operation makes; returns the variable.

        Args:
            value: the value.
            name: the variable's name; ignored with ``reads``.
            kind: a ``VariableKind``.
            sources: the variables that the value derives from; without them, all inputs so far.
            reads: the variable that the operation only read and gives back; the value is then an occurrence.
            revises: the previous version.
            said: category, class and attributes.
            is_learned: whether the object and its text stand for the variable from now on.
        """
        events: list[RawEvent] = []
        step = self.step
        if step.maker[1] == "Generation" and not step.outputs:
            empty_searches.use(step, events)
        if reads is not None:
            name = reads.name
            if not step.has_input(reads):
                step.use(events, reads, "read", is_input=False)
        if revises is not None and not step.has_input(revises):
            step.use(events, revises, "before", is_input=False)
        made = declare(events, self.here, value, name, kind, step=step, reads=reads, revises=revises, said=said)
        emit(events)
        if sources is not None:
            for source in sources:
                step.link(source, made, None)
                made.questions |= source.questions
        if is_learned:
            learn(self.here, value, made)
        return made

    def consider(
        self, query: Variable, candidates: Iterable[tuple[Variable, float | None]], returned: Iterable[Variable]
    ) -> None:
        """Record the candidates of a retrieval, best first, with scores."""
        given = {one.id for one in returned}
        emit(
            [
                self.step.considered(query, unit, rank, is_returned=unit.id in given, score=score)
                for rank, (unit, score) in enumerate(candidates)
            ]
        )

    def invalidate(self, variable: Variable) -> None:
        """Record that the operation deletes a variable."""
        events: list[RawEvent] = []
        if not self.step.has_input(variable):
            self.step.use(events, variable, "deleted")
        events.append(self.step.invalidated(variable))
        emit(events)

    def end(self, error: BaseException | None = None, attributes: Mapping[str, Any] | None = None) -> None:
        """Record the end; a second end is not written."""
        if self._is_over:
            return
        self._is_over = True
        step = self.step
        if step.maker[1] == "Retrieval" and error is None:
            if step.outputs:
                empty_searches.remember(step, [])
            else:
                empty_searches.found_nothing(step)
            searched(step, {made.id for made, _, _ in step.outputs if made.name == empty_searches.ROLE})
        empty_searches.stored(step)
        is_cancelled = error is not None and type(error).__name__ in _CANCELLED
        status = "ok" if error is None else "cancelled" if is_cancelled else "error"
        step.finish(status, None if is_cancelled else error, attributes)


def outside(here: Scope, value: object, name: str, kind: str, *, said: Mapping[str, Any] | None = None) -> Variable:
    """Record a value that came from outside; returns the variable."""
    events: list[RawEvent] = []
    made = declare(events, here, value, name, kind, said=said)
    emit(events)
    learn(here, value, made)
    return made


def learn(here: Scope, value: object, variable: Variable) -> None:
    """Let an object, and the text if the object is one, stand for a variable."""
    if variable.reads is None:
        here.trace.identities.bind(value, variable)
    else:
        here.trace.identities.add_occurrence(value, variable)
    text = value if isinstance(value, str) else None
    if text is not None:
        texts(here.trace).add(text, variable)


def known(here: Scope, value: object, asked: Questions = NO_QUESTIONS) -> Variable | None:
    """The variable of an object; of several, the newest that belongs to the questions ``asked``. None if unknown."""
    found = here.trace.identities.find(value)
    if not found:
        return None
    asked = asked or asked_here()
    return next((one for one in reversed(found) if one.questions & asked), found[-1] if len(found) == 1 else None) or (
        next((one for one in reversed(found) if not one.questions), found[-1])
    )


def gave(here: Scope, value: object, variable: Variable, *, is_own: bool = False) -> None:
    """Note that the application gets a value: later calls with the value belong to the same trace."""
    token = scope.set(here)
    try:
        placing.gave(value, variable, is_own=is_own)
    finally:
        scope.reset(token)


def searched_for(here: Scope, query: str, variable: Variable) -> None:
    """Note that the application asked a memory this question."""
    token = scope.set(here)
    try:
        placing.asked(query, variable)
    finally:
        scope.reset(token)


def text_of(value: object) -> str:
    """A value as text."""
    return snapshot(value)[0]


def begin_session(here: Scope, session: str, name: str, category: str) -> Scope:
    """The same place in a session of this id, whose event is sent once."""
    told = here.trace.notes.setdefault("sessions", set())
    if session not in told:
        told.add(session)
        import time

        said = {"name": name[:MAX_NAME_CHARACTERS], "category": category}
        emit([(SESSION, said, here.trace.id, time.time_ns(), session)])
    return Scope(here.trace, session, here.step, here.ancestor)
