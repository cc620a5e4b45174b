"""Traces, places in them, and running operations: what the recorder knows about each, and the events that it writes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from memtrace import sink
from memtrace.identity import NO_QUESTIONS, IdentityMap, KnownUnits, Questions, Variable, joined
from memtrace.ids import new_id
from memtrace.mistakes import MistakeError, shown
from memtrace.raw_events import CONSIDERED, DERIVED, ENDED, INVALIDATED, OF_STORED, STARTED, USED, RawEvent

Entered = tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any], dict[str, Any]]
"""What is called, with which arguments, and attributes of the operation."""


class PackageCall(Protocol):
    """A call inside a package that is being replayed, which is changed by its texts."""

    @property
    def noted(self) -> dict[str, str]:
        """Attributes of the operation that say what the call is known by."""
        ...

    def given(self, texts: Mapping[str, str]) -> dict[str, str]:
        """What a model is given, by role."""
        ...

    def reply(self, text: str, adding: Callable[[str, str], str | None] = ...) -> str:
        """What a model replies; ``adding`` puts a text into it, where its form has a place for one."""
        ...

    def found(self, texts: Sequence[str]) -> list[str]:
        """What a search gives back."""
        ...

    def refuse(self, reason: str) -> None:
        """Say why a change can't be made."""
        ...


class Replaying(Protocol):
    """What is done at each call of an operation of a trace that is being replayed."""

    def enter(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Entered:
        """A function is called."""
        ...

    def package(self, function: str, arguments: Mapping[str, Any]) -> PackageCall:
        """A package calls a model, or searches."""
        ...

    def mutated(self, value: object) -> None:
        """A value was changed in place."""
        ...


replaying: Replaying | None = None
"""What the traces of this process are replayed by; None where they are recorded."""


class TraceState:
    """What this process knows of a trace."""

    __slots__ = ("id", "identities", "is_told", "kept", "notes", "replaying", "stored_units")

    def __init__(self, id: str) -> None:  # noqa: A002 (the field's own word)
        self.id = id
        self.is_told = False
        self.kept: Path | None = None
        """The folder of what a replay needs."""
        self.replaying: Replaying | None = None
        self.identities = IdentityMap()
        self.stored_units = KnownUnits()
        self.notes: dict[str, Any] = {}
        """What instruments keep of the trace, by their own names."""


class Scope:
    """A place: a trace, and where in it. ``ancestor`` is an operation of another process around it."""

    __slots__ = ("_step", "ancestor", "session", "trace")

    def __init__(
        self,
        trace: TraceState,
        session: str | None = None,
        step: Step | None = None,
        ancestor: str | None = None,
    ) -> None:
        self.trace = trace
        self.session = session
        self._step = step
        self.ancestor = ancestor

    @property
    def step(self) -> Step | None:
        """The operation around it."""
        return self._step


class Step(Scope):
    """A running operation, and the place in which its code runs."""

    # fmt: off
    __slots__ = (
        "asked", "candidates", "has_begun", "has_message", "id", "inputs", "links", "maker",
        "now", "outputs", "parent", "path", "pending", "positions", "trace_id",
    )
    # fmt: on

    def __init__(self, scope: Scope, maker: tuple[str, str]) -> None:
        """Begin an operation here; ``maker`` is its name and kind."""
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
        """Whether an input is a message or derives from one."""
        self.has_begun = False
        """Whether its beginning, with the first inputs, is complete."""
        self.inputs: dict[Variable, None] = {}
        """Each input once, in the order of use."""
        self.outputs: list[tuple[Variable, int, Variable | None]] = []
        """Each output, the number of inputs before it, and the variable that it reads or revises."""
        self.links: dict[str, list[tuple[Variable, str | None]]] | None = None
        self.candidates: list[Variable] | None = None
        """Stored units that are candidates of a retrieval, best first."""
        self.pending: list[RawEvent] = []
        """Attributes that are written with the end."""
        self.positions = 0
        self.now = time.time_ns()
        """When it began; this is also the time of the first inputs."""

    @property
    def step(self) -> Step:
        """The operation itself."""
        return self

    def begin(self, location: str | None, said: Mapping[str, Any] | None, events: list[RawEvent]) -> None:
        """Write the event of the beginning into the first place of ``events``, which is free.

        ``said`` is its category, comment and attributes.
        """
        name, kind = self.maker
        # fmt: off
        events[0] = (
            STARTED, said, self.trace_id, self.now, self.id, name, kind, self.session, self.ancestor, location
        )
        # fmt: on
        self.has_begun = True
        sink.send(events)

    def use(self, events: list[RawEvent], variable: Variable, role: str | None, *, is_input: bool = True) -> None:
        """Record that it uses the variable; an input is a source of the outputs that come after it."""
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
        """Record that a stored unit is a candidate, worse than those before it."""
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
        """Set what the target came from, in place of all inputs."""
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
        """Write the edges of its outputs, and its end."""
        events, links = self.pending, self.links
        now, trace, id_ = time.time_ns(), self.trace_id, self.id
        for target, inputs, origin in self.outputs:
            of_stored = OF_STORED if target.unit is not None and self.made(target) else None
            if links and target.id in links:
                for source, comment in links[target.id]:
                    about = of_stored if comment is None else {**(of_stored or {}), "comment": comment}
                    events.append((DERIVED, about, trace, now, source.id, target.id, id_, "Derivation"))
                continue
            target_id = target.id
            for source in self.inputs if inputs == len(self.inputs) else itertools.islice(self.inputs, inputs):
                if source is not origin:
                    events.append((DERIVED, of_stored, trace, now, source.id, target_id, id_, "Derivation"))
        more: dict[str, Any] | None = None
        if error is not None or said:
            more = {}
            if error is not None:
                more["error"] = {"type": type(error).__name__, "message": _message(error)}
            if said:
                more["attributes"] = dict(said)
        events.append((ENDED, more, trace, now, id_, status))
        sink.send(events)


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:
        return f"<{type(broken).__name__}>"
