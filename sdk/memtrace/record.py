"""The recorder itself: steps, the variables that they use and make, and the edges between them, as wire events.

A source is always older than its target in this process's order, so that the graph has no cycle. Default edges of an
output go to the inputs that its operation had by then, and are written when the operation ends, because ``link`` may
replace them until then.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from typing import Any

from memtrace.changes import NO_BASE
from memtrace.compact import CONSIDERED, DERIVED, ENDED, INVALIDATED, STARTED, USED, VARIABLE, RawEvent
from memtrace.context import Scope, question
from memtrace.identity import NO_QUESTIONS, Questions, Variable
from memtrace.ids import new_id
from memtrace.kinds import MAX_NAME_CHARACTERS
from memtrace.likeness import remember
from memtrace.mistakes import MistakeError, shown
from memtrace.questions import joined
from memtrace.values import TEXT, snapshot

_orders = itertools.count()
_is_whole = False


def _nowhere(events: list[RawEvent]) -> None:
    """There is no exporter."""


_sink: Callable[[list[RawEvent]], None] = _nowhere


def set_sink(sink: Callable[[list[RawEvent]], None] | None, *, is_whole: bool = False) -> None:
    """Where events go from now on. ``is_whole`` asks for each value as a whole, also where little of it is new."""
    global _sink, _is_whole
    _sink, _is_whole = sink or _nowhere, is_whole


def emit(events: list[RawEvent]) -> None:
    """Hand events over to the exporter."""
    _sink(events)


class Step(Scope):
    """An operation under way, and the place that its code runs in."""

    # fmt: off
    __slots__ = (
        "asked", "candidates", "has_begun", "has_message", "id", "inputs", "links", "maker",
        "now", "outputs", "parent", "path", "pending", "positions", "trace_id",
    )
    # fmt: on

    def __init__(self, scope: Scope, maker: tuple[str, str]) -> None:
        """An operation that begins here; ``maker`` is its name and kind."""
        self.id = id_ = new_id()
        self.trace = trace = scope.trace
        self.trace_id = trace.id
        self.session = scope.session
        self.parent = parent = scope.step
        if parent is None:
            self.ancestor = scope.ancestor
            self.path: tuple[str, ...] = (id_,)
            self.asked: Questions = NO_QUESTIONS
        else:
            self.ancestor = parent.id
            self.path = (*parent.path, id_)
            self.asked = parent.asked
        self.maker = maker
        self.has_message = False
        """An input is a message or derives from one."""
        self.has_begun = False
        """Its beginning, with what it uses from the first, is over."""
        self.inputs: dict[Variable, None] = {}
        """Once each, in their order."""
        self.outputs: list[tuple[Variable, int, Variable | None]] = []
        """Each output, how many inputs were there before it, and the one that it reads or revises."""
        self.links: dict[str, list[tuple[Variable, str | None]]] | None = None
        self.candidates: list[Variable] | None = None
        """Stored units that a retrieval has before it, best first."""
        self.pending: list[RawEvent] = []
        """What is told with the end."""
        self.positions = 0
        self.now = time.time_ns()
        """When it began: also the time of the uses that are told with its beginning."""

    @property
    def step(self) -> Step:
        """Itself."""
        return self

    def begin(self, location: str | None, said: Mapping[str, Any] | None, events: list[RawEvent]) -> None:
        """Tell that it begins, in the first place of ``events``, which is free.

        ``said`` is its category, comment and attributes.
        """
        name, kind = self.maker
        # fmt: off
        events[0] = (
            STARTED, said, self.trace_id, self.now, self.id, name, kind, self.session, self.ancestor, location
        )
        # fmt: on
        self.has_begun = True
        _sink(events)

    def use(self, events: list[RawEvent], variable: Variable, role: str | None, *, is_input: bool = True) -> None:
        """Tell that it uses the variable; an input is a source of the outputs that come after it."""
        now = time.time_ns() if self.has_begun else self.now
        events.append((USED, None, self.trace_id, now, self.id, variable.id, self.positions, role))
        self.positions += 1
        if is_input:
            self.inputs[variable] = None
            if variable.has_message:
                self.has_message = True
            if variable.questions and variable.questions is not self.asked:
                self.asked = joined(self.asked, variable.questions)

    def consider(self, variable: Variable) -> None:
        """It has a stored unit before it, worse than those that were said before."""
        if self.candidates is None:
            self.candidates = []
        self.candidates.append(variable)

    def considered(
        self, query: Variable, variable: Variable, rank: int, *, is_returned: bool, score: float | None = None
    ) -> RawEvent:
        """A candidate of a retrieval."""
        said = None if score is None else {"score": float(score)}
        return CONSIDERED, said, self.trace_id, time.time_ns(), self.id, query.id, variable.id, rank, is_returned

    def invalidated(self, variable: Variable) -> RawEvent:
        """The end of a variable's life."""
        return INVALIDATED, None, self.trace_id, time.time_ns(), variable.id, self.id

    def has_input(self, variable: Variable) -> bool:
        """Whether it has used the variable as an input."""
        return variable in self.inputs

    def made(self, variable: Variable) -> bool:
        """Whether it, or an operation inside it, made the variable."""
        return self.id in variable.path

    def link(self, source: Variable, target: Variable, comment: str | None) -> None:
        """Say what the target came from, instead of all inputs."""
        if source.order >= target.order:
            raise MistakeError(
                f"the source of a link, the {source.kind} named {shown(source.name)}, is younger than its target, "
                f"the {target.kind} named {shown(target.name)}"
            )
        if source.has_message:
            target.has_message = True
        if self.links is None:
            self.links = {}
        self.links.setdefault(target.id, []).append((source, comment))
        if all(output is not target for output, _, _ in self.outputs):
            self.outputs.append((target, 0, None))

    def finish(self, status: str, error: BaseException | None = None, said: Mapping[str, Any] | None = None) -> None:
        """Tell the edges of its outputs, and that it is over."""
        events, links = self.pending, self.links
        now, trace, id_ = time.time_ns(), self.trace_id, self.id
        for target, inputs, origin in self.outputs:
            if links and target.id in links:
                for source, comment in links[target.id]:
                    about = None if comment is None else {"comment": comment}
                    events.append((DERIVED, about, trace, now, source.id, target.id, id_, "Derivation"))
                continue
            target_id = target.id
            for source in self.inputs if inputs == len(self.inputs) else itertools.islice(self.inputs, inputs):
                if source is not origin:
                    events.append((DERIVED, None, trace, now, source.id, target_id, id_, "Derivation"))
        more: dict[str, Any] | None = None
        if error is not None or said:
            more = {}
            if error is not None:
                more["error"] = {"type": type(error).__name__, "message": _message(error)}
            if said:
                more["attributes"] = dict(said)
        events.append((ENDED, more, trace, now, id_, status))
        _sink(events)


def declare(
    events: list[RawEvent],
    scope: Scope,
    value: object,
    name: str,
    kind: str,
    *,
    step: Step | None = None,
    reads: Variable | None = None,
    revises: Variable | None = None,
    said: Mapping[str, Any] | None = None,
) -> Variable:
    """Record a new variable with the value as it is now.

    Args:
        events: what is told so far; the variable's events are added.
        scope: the trace and session of here.
        value: the value.
        name: its name; an occurrence has that of the variable which it reads.
        kind: a ``VariableKind``.
        step: the operation that makes it; None for an input from outside.
        reads: the variable of which it is an occurrence.
        revises: the version before it.
        said: its category, comment, role, class name and attributes.
    """
    identities = scope.trace.identities
    if reads is not None and kind == "Query":
        kind = "RefinedQuery"  # an answer has one query in its past
    if not 0 < len(name) <= MAX_NAME_CHARACTERS:
        name = name[:MAX_NAME_CHARACTERS] or "variable"
    id_ = new_id()
    if type(value) is str and revises is None:
        text, media_type, more = value, TEXT, said
    else:
        text, media_type, base = _told(scope, id_, value, revises)
        more = {**base, **said} if base and said else base or said
    variable = Variable(id_, name, 0, kind, next(_orders))
    if reads is None:
        identities.name(variable)
    else:
        variable.reads = reads
        variable.version = reads.version
        recorded = reads
        while recorded.reads is not None:
            recorded = recorded.reads
        recorded.occurrences += 1
        more = {**(said or {}), "reads": reads.id, "occurrence": recorded.occurrences}
    now, trace = time.time_ns(), scope.trace.id
    before = None if revises is None else revises.id
    maker = None if step is None else step.id
    version = variable.version
    # fmt: off
    events.append((
        VARIABLE, more, trace, now, text, media_type, id_, name, kind, version, scope.session, maker, before
    ))
    # fmt: on
    if kind == "MemoryUnit" and (type(value) is str or revises is None):  # else the text is only what is new
        remember(scope, value if type(value) is str else text, variable)
    origin = reads if reads is not None else revises
    if step is not None:
        variable.path = step.path
        variable.maker = step.maker
        variable.questions = step.asked
        if step.has_message or (origin is not None and origin.has_message):
            variable.has_message = True
        step.outputs.append((variable, len(step.inputs), origin))
        if origin is not None:
            edge = "Read" if reads is not None else "Revision"
            events.append((DERIVED, None, trace, now, origin.id, id_, maker, edge))
            variable.questions = joined(origin.questions, step.asked)
    if reads is None and kind == "Query":
        variable.questions = frozenset((variable.id,))
        question.set(variable.id)
    return variable


def _told(scope: Scope, id_: str, value: object, revises: Variable | None) -> tuple[str, str, Mapping[str, Any]]:
    """The text and media type of a value; where the text is only what is new, what it is added to."""
    if revises is None or _is_whole:
        return *snapshot(value), NO_BASE
    told = scope.trace.identities.images.tell(revises.id, id_, value)
    return told.text, told.media_type, told.base(revises.id)


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:
        return f"<{type(broken).__name__}>"
